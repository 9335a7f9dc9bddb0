/** Acts that are under way, each followed by another in the order in which they were begun. */
export class InOrder {
  readonly #most: number
  #followed: Promise<void> = Promise.resolve()
  readonly #ends: Promise<void>[] = []

  /** `most`: how many may be under way when {@link add} settles. */
  constructor(most: number) {
    this.#most = most
  }

  /** Waits until there is room for another. Throws what went wrong with one before. */
  async add(act: Promise<void>, follow: () => void): Promise<void> {
    const before = this.#followed
    const followed = (async () => {
      await before
      await act
      follow()
    })()
    // Their errors are told when their turns come.
    act.catch(() => undefined)
    followed.catch(() => undefined)
    this.#followed = followed
    this.#ends.push(followed)
    while (this.#ends.length > this.#most) await this.#ends.shift()
  }

  /** Settles when all is done. */
  async end(): Promise<void> {
    await this.#followed
    this.#ends.length = 0
  }
}
