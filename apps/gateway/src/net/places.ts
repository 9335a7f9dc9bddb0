const nothing = new Uint8Array(0)

interface Entry {
  /** Bytes of the request. */
  readonly cost: number
  bytes?: Uint8Array
}

/** Places of replies in the order of their requests; those that are filled leave from the front. */
export class PlaceQueue {
  #entries: Entry[] = []
  #front = 0
  #cost = 0
  #filledBytes = 0

  get isEmpty(): boolean {
    return this.size === 0
  }

  get size(): number {
    return this.#entries.length - this.#front
  }

  /** Bytes of the requests that have a place. */
  get cost(): number {
    return this.#cost
  }

  /** Bytes of replies that wait for one before them. */
  get filledBytes(): number {
    return this.#filledBytes
  }

  /** Adds a place at the end; what it returns fills it, once. */
  add(cost: number): (bytes?: Uint8Array) => void {
    const entry: Entry = { cost }
    this.#entries.push(entry)
    this.#cost += cost
    return (bytes = nothing) => {
      if (entry.bytes) return
      entry.bytes = bytes
      this.#filledBytes += bytes.length
    }
  }

  /** The next reply that may leave. */
  next(): Uint8Array | undefined {
    const entry = this.#entries[this.#front]
    if (!entry?.bytes) return undefined
    this.#cost -= entry.cost
    this.#filledBytes -= entry.bytes.length
    this.#front += 1
    if (this.#front === this.#entries.length) {
      this.#entries = []
      this.#front = 0
    } else if (this.#front > 1024) {
      this.#entries.splice(0, this.#front)
      this.#front = 0
    }
    return entry.bytes
  }
}
