import type { ForeignField } from '@crossgear/redis-store'
import type { Logger } from './logger.ts'

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

/** Warns of fields of jobs that another program wrote: of each field once, with a job that has it. */
export function warnOfForeignFields(
  log: Logger,
  nowMs: () => number,
): (field: ForeignField) => void {
  const deduper = new LogDeduper(nowMs)
  return ({ lane, id, field }) => {
    if (!deduper.isNews(field, field)) return
    log.warn(
      { function: lane, id, field },
      `Another program wrote a value into the field ${field} of a job that means nothing there: it is ignored.`,
    )
  }
}
