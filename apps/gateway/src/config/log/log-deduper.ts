/** A lasting error is logged again after this time, milliseconds. */
const againMs = 60_000

/**
 * Selects errors of background tasks for the log: a task that fails ten times a second is not ten
 * lines.
 */
export class LogDeduper {
  readonly #nowMs: () => number
  /** By task, a word of the code. */
  readonly #logged = new Map<string, { readonly text: string; readonly atMs: number }>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** True for a new error of the task, or one that has lasted long. */
  isNews(task: string, text: string): boolean {
    const nowMs = this.#nowMs()
    const last = this.#logged.get(task)
    if (last?.text === text && nowMs - last.atMs < againMs) return false
    this.#logged.set(task, { text, atMs: nowMs })
    return true
  }

  /** Forgets all errors: the next one is new. */
  forget(): void {
    this.#logged.clear()
  }
}
