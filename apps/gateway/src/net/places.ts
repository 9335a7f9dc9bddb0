const nothing = new Uint8Array(0)

/** The place of a reply that is not known yet. Replies leave in the order of their places. */
export class Place {
  /** Bytes of the request. */
  readonly cost: number
  /** Whether the reply has left, and so what follows from it may. */
  hasLeft = false
  bytes: Uint8Array | undefined
  readonly #queue: PlaceQueue

  constructor(queue: PlaceQueue, cost: number) {
    this.#queue = queue
    this.cost = cost
  }

  /** The reply, or nothing where there is none after all. Once. */
  fill(bytes: Uint8Array = nothing): void {
    if (this.bytes) return
    this.bytes = bytes
    this.#queue.filled(this)
  }
}

/** A request that as a rule has no reply: what is said to it after all waits for no other. */
export class Aside {
  readonly #cost: number
  readonly #queue: PlaceQueue
  #isOver = false

  constructor(queue: PlaceQueue, cost: number) {
    this.#queue = queue
    this.#cost = cost
  }

  /** The request is done with. Once. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#queue.ended(this.#cost)
  }
}

/** Places of replies in the order of their requests; those that are filled leave from the front. */
export class PlaceQueue {
  readonly #ready: () => void
  #places: Place[] = []
  #front = 0
  #cost = 0
  #asides = 0
  #filledBytes = 0

  /** `ready` is called when a reply may leave or a request is done with. */
  constructor(ready: () => void) {
    this.#ready = ready
  }

  /** No reply is owed. */
  get isEmpty(): boolean {
    return this.#places.length === this.#front
  }

  /** Requests that are not done with. */
  get size(): number {
    return this.#places.length - this.#front + this.#asides
  }

  /** Bytes of those requests. */
  get cost(): number {
    return this.#cost
  }

  /** Bytes of replies that wait for one before them. */
  get filledBytes(): number {
    return this.#filledBytes
  }

  /** Adds a place at the end. */
  add(cost: number): Place {
    const place = new Place(this, cost)
    this.#places.push(place)
    this.#cost += cost
    return place
  }

  /** Counts a request that has no place. */
  addAside(cost: number): Aside {
    this.#asides += 1
    this.#cost += cost
    return new Aside(this, cost)
  }

  filled(place: Place): void {
    this.#filledBytes += place.bytes?.length ?? 0
    if (this.#places[this.#front] === place) this.#ready()
  }

  ended(cost: number): void {
    this.#asides -= 1
    this.#cost -= cost
    this.#ready()
  }

  /** The next reply that may leave. */
  next(): Uint8Array | undefined {
    const place = this.#places[this.#front]
    if (!place?.bytes) return undefined
    this.#cost -= place.cost
    this.#filledBytes -= place.bytes.length
    place.hasLeft = true
    this.#front += 1
    if (this.#front === this.#places.length) {
      this.#places = []
      this.#front = 0
    } else if (this.#front > 1024) {
      this.#places.splice(0, this.#front)
      this.#front = 0
    }
    return place.bytes
  }
}
