/** A connection whose bytes are counted. */
export interface Holder {
  /** Its bytes are not kept any longer. */
  evict(): void
}

/**
 * The bytes of a door that came and are not done with: packets that have half arrived, and requests
 * that wait for the store. They share one bound over all connections, so that no number of peers can
 * fill the memory.
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

  /** True if only packets under way should be read to their end. */
  get isFull(): boolean {
    return this.#halfBytes + this.#waitingBytes >= this.#maxBytes
  }

  /** Requests came that wait for the store; less than nothing where they are answered. */
  wait(bytes: number): void {
    this.#waitingBytes += bytes
  }

  /**
   * A holder keeps so many bytes of a packet that has half arrived, 0 once it is whole. Where all of
   * them are too many, those go whose packets began the earliest: an honest peer ends what it began.
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
