import { at, type Case } from './case.ts'
import { strayOf } from './clock.ts'
import type { Run, Submitted } from './history.ts'

/** A gateway knows the store's time so well, milliseconds. */
const knownWithinMs = 5
/** A job that has come to a gateway in time is given to a worker so much later, milliseconds. */
const onItsWayMs = 60
/** A gateway may not know of a step of the store's clock for so long, milliseconds. */
const unknownMs = 10_000

/** True if a job may have gone by then since its time was over. */
export function mayExpire(
  { history }: Pick<Case, 'history'>,
  { expiresAtMs = Infinity, submittedMs }: Submitted,
  beforeMs: number,
): boolean {
  const { aheadMs } = strayOf(history, submittedMs - unknownMs, beforeMs)
  return expiresAtMs - aheadMs - knownWithinMs <= beforeMs
}

/** True if nobody may have waited for a foreground job: a fault made its gateway count as dead, and it heard a failure. */
const mayBeDeserted = ({ plan }: Pick<Case, 'plan'>, job: Submitted): boolean =>
  job.foreground &&
  (job.isDeserted || (plan.faults.length > 0 && job.words.some(({ kind }) => kind === 'fail')))

/** Jobs are dropped as too late only after their time. */
export function* nothingExpiresEarly({ plan, history }: Case): Iterable<string> {
  // The store drops a job again whose drop it has lost.
  if (history.losses.length > 0) return
  const jobs = [...history.jobs.values()]
  for (const { fn, atMs } of history.drops) {
    const drops = history.drops.filter((other) => other.fn === fn && other.atMs <= atMs)
    const late = jobs.filter(
      (job) => job.fn === fn && (mayExpire({ history }, job, atMs) || mayBeDeserted({ plan }, job)),
    )
    if (drops.length <= late.length) continue
    yield `${drops.length} jobs of ${fn} had expired at ${at(atMs)}, and ${late.length} may`
    return
  }
}

/** Nothing is given to a worker behind a gateway after its time. */
export function* nothingRunsTooLate({ plan, history, runs }: Case): Iterable<string> {
  if (plan.faults.length > 0) return
  for (const { label, submittedMs, expiresAtMs = Infinity } of history.jobs.values()) {
    const isLate = ({ worker, startedMs }: Run): boolean => {
      const { backMs } = strayOf(history, submittedMs - unknownMs, startedMs)
      return !worker.startsWith('native') && startedMs > expiresAtMs + backMs + onItsWayMs
    }
    const late = runs.get(label)?.find(isLate)
    if (late) yield `${label} ran at ${at(late.startedMs)}, and had expired at ${at(expiresAtMs)}`
  }
}
