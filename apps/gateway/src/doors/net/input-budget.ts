/** A connection whose bytes are counted. */
export interface Holder {
  /** Drops its half-arrived bytes. */
  evict(): void
}

/**
 * Bytes of a door that are not done with: half-arrived packets, requests that wait, and names that
 * peers have given. All connections share one bound, so that no number of peers can fill the memory.
 */
export class InputBudget {
  readonly #maxBytes: number
  /** In the order in which the packets began. */
  readonly #half = new Map<Holder, number>()
  #halfBytes = 0
  #waitingBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** True if only packets in progress should be read to their end. */
  get isFull(): boolean {
    return this.#halfBytes + this.#waitingBytes >= this.#maxBytes
  }

  /** True if so many more bytes may be held. */
  hasRoomFor(bytes: number): boolean {
    return this.#halfBytes + this.#waitingBytes + bytes <= this.#maxBytes
  }

  /** Adds bytes of requests that wait, and of names; negative once they are done with. */
  wait(bytes: number): void {
    this.#waitingBytes += bytes
  }

  /**
   * Sets the bytes that a holder keeps of a half-arrived packet; 0 once it is complete. Over the
   * bound the oldest packets are dropped: an honest peer ends what it began.
   */
  keep(holder: Holder, bytes: number): void {
    const before = this.#half.get(holder) ?? 0
    if (bytes === before) return
    this.#halfBytes += bytes - before
    if (bytes === 0) this.#half.delete(holder)
    else this.#half.set(holder, bytes)
    while (this.#halfBytes > this.#maxBytes) this.#evictEarliest()
  }

  #evictEarliest(): void {
    const [earliest] = this.#half.keys()
    if (!earliest) return
    this.keep(earliest, 0)
    earliest.evict()
  }
}
