import { isTaken } from './acts.ts'
import type { Case, Runs } from './case.ts'
import { mayExpire } from './expiry.ts'
import type { History, Submitted } from './history.ts'
import { mayBeLost } from './losses.ts'
import { mayHaveRunOut } from './lost-leases.ts'
import { isFinished, isLate } from './runs.ts'

/** A batch's callbacks run once, after its jobs. */
export function* callbacksAreLast(one: Case): Iterable<string> {
  const { plan, history, runs } = one
  for (const { bid, isCommitted } of history.batches.values()) {
    const jobs = [...history.jobs.values()].filter(({ batch }) => batch === bid)
    const callbackJobs = [...history.jobs.values()].filter(({ callbackOf }) => callbackOf === bid)
    for (const { label, callback } of callbackJobs) {
      const [first] = runs.get(label) ?? []
      const beganMs = first?.startedMs ?? Infinity
      const pending = jobs.filter(
        (job) =>
          job.answer === 'accepted' &&
          !mayBeLost(history, job) &&
          !(
            callback === 'complete' &&
            (isTaken(history, job, ['ends', 'kills'], beganMs) || mayHaveRunOut(one, job, beganMs))
          ) &&
          !mayExpire(one, job, beganMs) &&
          !hasRun(job, runs, Math.min(beganMs, takenMs(history, job)), callback === 'success'),
      )
      if (first && pending.length > 0)
        yield `callback ${label} ran before ${pending.map((job) => job.label).join(', ')}`
      if (first && isCommitted === undefined)
        yield `callback ${label} ran before its batch was committed`
      const canSucceed =
        callback === 'complete' ||
        jobs.every((job) => hasRun(job, runs, Infinity, true) && !isTaken(history, job, ['ends']))
      const isClosed =
        isCommitted === 'yes' &&
        jobs.every(({ answer }) => answer === 'accepted') &&
        !hasChild(history, bid)
      const isTakenAway = callbackJobs.some((job) => isTaken(history, job, ['ends', 'kills']))
      if (
        !first &&
        isClosed &&
        canSucceed &&
        !isTakenAway &&
        jobs.length > 0 &&
        plan.faults.length === 0
      ) {
        yield `callback ${label} never ran`
      }
    }
  }
}

/**
 * When an operator had surely ended a job, as he was told, milliseconds of the world; Infinity: never. It counts as failed from then
 * on, whatever its worker says later.
 */
function takenMs({ acts, losses }: History, job: Submitted): number {
  if (losses.length > 0) return Infinity
  const ends = acts.filter((act) => act.kind === 'ends' && act.job === job && act.result === 'done')
  return Math.min(...ends.map(({ endedMs = Infinity }) => endedMs))
}

const hasChild = (history: History, bid: string): boolean =>
  [...history.batches.values()].some(({ parent }) => parent === bid)

function hasRun(job: Submitted, runs: Runs, beforeMs: number, hasSucceeded: boolean): boolean {
  return (runs.get(job.label) ?? []).some((run) => {
    if (hasSucceeded)
      return run.end === 'complete' && isFinished(run) && (run.endedMs ?? Infinity) <= beforeMs
    return run.end === 'vanished' || isLate(run) || (run.endedMs ?? Infinity) <= beforeMs
  })
}
