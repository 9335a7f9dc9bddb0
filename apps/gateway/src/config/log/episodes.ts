/** An episode is over after this long without an event of its kind, milliseconds. */
const quietMs = 60_000

/** Detects the first of many similar events, so that the log has one line for all. */
export class Episodes {
  readonly #nowMs: () => number
  /** Time of the last event by kind, a word of the code. */
  readonly #lastMs = new Map<string, number>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Notes an event; true if it is the first after a quiet while. */
  begins(kind: string): boolean {
    const nowMs = this.#nowMs()
    const lastMs = this.#lastMs.get(kind)
    this.#lastMs.set(kind, nowMs)
    return lastMs === undefined || nowMs - lastMs >= quietMs
  }
}
