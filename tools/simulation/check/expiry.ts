import type { Plan } from '../world/plan.ts'
import { at, type Case } from './case.ts'
import type { Submitted } from './history.ts'

/** A gateway knows the store's time so well, milliseconds. */
const knownWithinMs = 5
/** A job that has come to a gateway in time is given to a worker so much later, milliseconds. */
const onItsWayMs = 60
/** The most by which a fault steps the store's clock, milliseconds. */
const stepMs = 3_000

/** How far the store's clock may be from that of the world. */
const stepsOf = ({ faults }: Pick<Plan, 'faults'>): number =>
  faults.filter(({ kind }) => kind === 'store clock step').length * stepMs

/** True if a job may have gone by then since its time was over. */
export function mayExpire(
  { plan }: Pick<Case, 'plan'>,
  { expiresAtMs = Infinity }: Submitted,
  beforeMs: number,
): boolean {
  return expiresAtMs - stepsOf(plan) - knownWithinMs <= beforeMs
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
      (job) => job.fn === fn && (mayExpire({ plan }, job, atMs) || mayBeDeserted({ plan }, job)),
    )
    if (drops.length <= late.length) continue
    yield `${drops.length} jobs of ${fn} had expired at ${at(atMs)}, and ${late.length} may`
    return
  }
}

/** Nothing is given to a worker behind a gateway after its time. */
export function* nothingRunsTooLate({ plan, history, runs }: Case): Iterable<string> {
  if (plan.faults.length > 0) return
  for (const { label, expiresAtMs = Infinity } of history.jobs.values()) {
    const late = runs
      .get(label)
      ?.find(
        ({ worker, startedMs }) =>
          !worker.startsWith('native') && startedMs > expiresAtMs + onItsWayMs,
      )
    if (late) yield `${label} ran at ${at(late.startedMs)}, and had expired at ${at(expiresAtMs)}`
  }
}
