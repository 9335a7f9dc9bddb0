/** Acts in progress; each has a follow-up, run in the order in which the acts began. */
export class InOrder {
  readonly #max: number
  #followed: Promise<void> = Promise.resolve()
  readonly #ends: Promise<void>[] = []

  /** `max`: acts that may be in progress when {@link add} settles. */
  constructor(max: number) {
    this.#max = max
  }

  /** Waits until there is room for another. Throws the error of an earlier one. */
  async add(act: Promise<void>, follow: () => void): Promise<void> {
    const before = this.#followed
    const followed = (async () => {
      await before
      await act
      follow()
    })()
    // Errors are thrown in turn, below.
    act.catch(() => undefined)
    followed.catch(() => undefined)
    this.#followed = followed
    this.#ends.push(followed)
    while (this.#ends.length > this.#max) await this.#ends.shift()
  }

  /** Settles when all is done. */
  async end(): Promise<void> {
    await this.#followed
    this.#ends.length = 0
  }
}
