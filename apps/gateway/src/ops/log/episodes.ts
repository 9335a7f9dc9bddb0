/** An episode is over when nothing of its kind has happened for so long, milliseconds. */
const quietMs = 60_000

/** Tells where something begins that then happens many times: one line of the log for all of it. */
export class Episodes {
  readonly #nowMs: () => number
  /** By kind, words of the code: when it happened last. */
  readonly #lastMs = new Map<string, number>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** It happened: whether that is the first time after a quiet while. */
  begins(kind: string): boolean {
    const nowMs = this.#nowMs()
    const lastMs = this.#lastMs.get(kind)
    this.#lastMs.set(kind, nowMs)
    return lastMs === undefined || nowMs - lastMs >= quietMs
  }
}
