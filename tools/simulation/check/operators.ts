import { areOne, isTaken } from './acts.ts'
import { at, type Case } from './case.ts'
import type { Submitted } from './history.ts'

/** A job that has come to a gateway is given to a worker so much later, milliseconds. */
const onItsWayMs = 60

/** Jobs that an operator has ended, as he was told, do not begin any more. */
export function* endedJobsStayEnded({ plan, history, runs }: Case): Iterable<string> {
  if (plan.faults.length > 0) return
  for (const { kind, job, result, endedMs = Infinity } of history.acts) {
    if (kind !== 'ends' || !job || result !== 'done') continue
    const later = runs.get(job.label)?.find(({ startedMs }) => startedMs > endedMs + onItsWayMs)
    if (later && job.lock === undefined)
      yield `${job.label} began at ${at(later.startedMs)}, and was ended at ${at(endedMs)}`
  }
}

/** A moved job is one of its new queue. */
export function* movedJobsHaveTheirQueue({ plan, history, runs }: Case): Iterable<string> {
  // A move may be among what the store has lost.
  if (history.losses.length > 0) return
  if (plan.changes.some(({ kind }) => kind === 'reload')) return
  const moves = history.acts.filter(({ kind, result }) => kind === 'moves' && result !== 'nothing')
  for (const { job, toQueue, result, endedMs = Infinity } of moves) {
    if (!job || result !== 'done' || job.lock !== undefined) continue
    if (moves.filter(({ takes }) => takes(job)).length > 1) continue
    const other = runs
      .get(job.label)
      ?.find(
        ({ queue, startedMs }) =>
          startedMs > endedMs + onItsWayMs && queue !== undefined && queue !== toQueue,
      )
    if (other) yield `${job.label} ran in ${other.queue}, and had moved to ${toQueue}`
  }
}

/** Of the jobs with one unique id one at a time stands or runs; others join it. */
export function* uniqueJobsAreOne({ plan, history, runs }: Case): Iterable<string> {
  // A lost job has no unique id.
  if (history.losses.length > 0) return
  const known = [...history.jobs.values()].filter(
    ({ unique, ref, answer }) => unique !== undefined && ref !== undefined && answer === 'accepted',
  )
  for (const job of known) {
    const former = known.find(
      (other) =>
        other.fn === job.fn &&
        other.unique === job.unique &&
        other.ref !== job.ref &&
        (other.answeredMs ?? Infinity) < firstOf(known, job).submittedMs,
    )
    if (former && !mayHaveEnded(former, firstOf(known, job).answeredMs ?? Infinity))
      yield `${job.label} is another job than ${former.label}, which has its unique id`
  }

  function mayHaveEnded(job: Submitted, beforeMs: number): boolean {
    if (isTaken(history, job, ['ends', 'kills', 'moves'], beforeMs)) return true
    // Nobody waits for it, or seems to.
    if (job.foreground && (job.isDeserted || plan.faults.length > 0)) return true
    const ones = [...history.jobs.values()].filter((other) => areOne(job, other))
    return ones.some(
      (one) =>
        (one.foreground && one.isDeserted) ||
        runs
          .get(one.label)
          ?.some(
            ({ end, endedMs = Infinity, startedMs, limitMs = Infinity }) =>
              (end !== 'vanished' && endedMs <= beforeMs) || startedMs + limitMs <= beforeMs,
          ),
    )
  }
}

/** The first of the submissions that are one job. */
function firstOf(known: readonly Submitted[], job: Submitted): Submitted {
  return known
    .filter(({ fn, ref }) => fn === job.fn && ref === job.ref)
    .reduce((first, other) => (other.submittedMs < first.submittedMs ? other : first), job)
}
