import { actsOn, isTaken } from './acts.ts'
import { at, type Case } from './case.ts'
import type { Run } from './history.ts'
import { mayBeLost } from './losses.ts'
import { isFinished, isLate } from './runs.ts'

const hasSurelyFailed = (run: Run): boolean =>
  (run.end === 'fail' || run.end === 'exception') && run.settled === 'yes' && !isLate(run)

/** A job that has died has told of it, once; one that was done has not. */
export function* deathsAreTold({ plan, history, runs }: Case): Iterable<string> {
  for (const teller of history.jobs.values()) {
    const job = history.jobs.get(teller.deathOf ?? '')
    if (!job || history.losses.length > 0) continue
    const [told, ran] = [runs.get(teller.label) ?? [], runs.get(job.label) ?? []]
    const isDone = ran.length > 0 && ran.every((run) => run.end === 'complete' && isFinished(run))
    const [first] = told
    if (first && isDone && plan.faults.length === 0 && !isTaken(history, job, ['kills', 'moves']))
      yield `${job.label} was done, and its death was told at ${at(first.startedMs)}`
    // A callback that is done runs no more: another one is another death.
    const isSettled = (run: Run): boolean =>
      run.settled === 'yes' || (plan.faults.length === 0 && isFinished(run))
    const settled = told.filter((run) => run.end === 'complete' && isSettled(run))
    const lives = 1 + actsOn(history, job, ['queues', 'kills', 'moves']).length
    if (settled.length > lives) yield `the death of ${job.label} was told ${settled.length} times`
    const isDead =
      job.answer === 'accepted' &&
      job.retries !== undefined &&
      job.retries !== 0 &&
      ran.every(hasSurelyFailed) &&
      ran.length > Math.max(job.retries, 0)
    const isSpared = [job, teller].some(
      (one) => isTaken(history, one, ['ends', 'kills']) || mayBeLost(history, one),
    )
    if (isDead && !isSpared && told.length === 0) yield `nobody heard of the death of ${job.label}`
  }
}
