/** Picks a percentage of jobs, evenly. */
export class Share {
  readonly #percent: number
  /** Hundredths of a copy not used so far. */
  #unused = 0

  constructor(percent: number) {
    this.#percent = percent
  }

  /** True if the next one is picked. */
  take(): boolean {
    this.#unused += this.#percent
    if (this.#unused < 100) return false
    this.#unused -= 100
    return true
  }
}
