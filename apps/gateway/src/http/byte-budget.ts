/** Bytes that may be held at a time, over all requests of the door. */
export class ByteBudget {
  readonly #max: number
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  /** A purse of one request; what it took comes back when it is emptied. */
  open(): Purse {
    let own = 0
    return {
      take: (bytes) => {
        if (this.#taken + bytes > this.#max) return false
        this.#taken += bytes
        own += bytes
        return true
      },
      empty: () => {
        this.#taken -= own
        own = 0
      },
    }
  }
}

export interface Purse {
  /** False, and nothing taken, where the budget does not reach. */
  take(bytes: number): boolean
  empty(): void
}
