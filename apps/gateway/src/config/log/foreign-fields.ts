import type { ForeignField } from '@crossgear/redis-store'
import type { Logger } from './logger.ts'
import { LogDeduper } from './log-deduper.ts'

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
