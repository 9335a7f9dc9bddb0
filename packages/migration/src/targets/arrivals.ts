/** Longest age of the store clock's answer, milliseconds. */
const askEveryMs = 1_000

/**
 * Places in the order of arrival, microseconds of the store's clock: each after all earlier ones.
 * The clock is asked once a second, and awaited only the first time.
 */
export class Arrivals {
  readonly #nowUs: () => Promise<number>
  #clock: { readonly storeUs: number; readonly atMs: number } | undefined
  #isAsked = false
  #lastUs = 0

  constructor(nowUs: () => Promise<number>) {
    this.#nowUs = nowUs
  }

  /** The first of this many places. */
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
    // If the store is away, the next page reports it.
    void this.#ask()
      .catch(() => undefined)
      .finally(() => (this.#isAsked = false))
  }
}
