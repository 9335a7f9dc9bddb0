/** Picks so many of each hundred jobs, evenly. */
export class Share {
  readonly #percent: number
  /** Hundredths of a copy that the jobs so far have not used. */
  #unused = 0

  constructor(percent: number) {
    this.#percent = percent
  }

  /** True where the next one is picked. */
  take(): boolean {
    this.#unused += this.#percent
    if (this.#unused < 100) return false
    this.#unused -= 100
    return true
  }
}
