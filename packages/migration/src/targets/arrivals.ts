/** How old the answer of the store's clock may be, milliseconds. */
const askEveryMs = 1_000

/**
 * Places in the order of arrival, microseconds of the store's clock: each comes after all that were given before. The clock
 * is asked once a second, and not waited for after the first time.
 */
export class Arrivals {
  readonly #nowUs: () => Promise<number>
  #clock: { readonly storeUs: number; readonly atMs: number } | undefined
  #isAsked = false
  #lastUs = 0

  constructor(nowUs: () => Promise<number>) {
    this.#nowUs = nowUs
  }

  /** The first of so many places. */
  async next(count: number): Promise<number> {
    const clock = this.#clock ?? (await this.#ask())
    const sinceMs = performance.now() - clock.atMs
    if (sinceMs > askEveryMs) this.#askAgain()
    const firstUs = Math.max(this.#lastUs, Math.round(clock.storeUs + sinceMs * 1_000))
    this.#lastUs = firstUs + count
    return firstUs
  }

  async #ask() {
    const storeUs = await this.#nowUs()
    this.#clock = { storeUs, atMs: performance.now() }
    return this.#clock
  }

  #askAgain(): void {
    if (this.#isAsked) return
    this.#isAsked = true
    // Where the store is away the page that is sent next tells of it.
    void this.#ask()
      .catch(() => undefined)
      .finally(() => (this.#isAsked = false))
  }
}
