import { isTaken } from './acts.ts'
import { at, type Case } from './case.ts'
import { strayOf } from './clock.ts'

/** Longest that a job waits for a worker that has nothing else to do, milliseconds. */
const maxMs = 1_000
/** Longest that a reliable worker takes for a job, milliseconds. */
const workMs = 200

/** A job that comes to idle workers waits so long at most, milliseconds. */
const promptMs = 250
/** A job whose client has left is given to a worker so much later at most, milliseconds: a gateway may have it already. */
const onItsWayMs = 100

/** Once workers have nothing to do, a job begins at once. */
export function* idleWorkersBeginAtOnce({ plan, history, runs }: Case): Iterable<string> {
  if (plan.hasThrottles) return
  for (const { label, submittedMs, answer, answeredMs = 0, isDeserted } of history.jobs.values()) {
    if (submittedMs < history.calmFromMs || answer !== 'accepted' || isDeserted) continue
    const startedMs = runs.get(label)?.[0]?.startedMs ?? Infinity
    // It went back with a worker that left.
    const isLost = history.lostWorkersMs.some((ms) => ms > submittedMs && ms < startedMs)
    if (startedMs > answeredMs + promptMs && !isLost)
      yield `${label} waited from ${at(answeredMs)} to ${at(startedMs)}, and workers were idle`
  }
}

/** A foreground job whose client has left does not begin any more. */
export function* nobodyRunsForNobody({ plan, history, runs }: Case): Iterable<string> {
  for (const job of history.jobs.values()) {
    const { label, foreground, unique, submittedMs, leftMs } = job
    if (!foreground || unique !== undefined || leftMs === undefined) continue
    if (plan.faults.length > 0 && submittedMs < history.calmFromMs) continue
    const late = runs
      .get(label)
      ?.find(
        ({ worker, startedMs }) => !worker.startsWith('native') && startedMs > leftMs + onItsWayMs,
      )
    if (late)
      yield `${label} began at ${at(late.startedMs)}, and its client had left at ${at(leftMs)}`
  }
}

/** No job waits long once there are workers for all of them that never leave. */
export function* nobodyWaitsInVain({ plan, history, runs }: Case): Iterable<string> {
  if (plan.faults.length > 0 || plan.hasThrottles) return
  const { reliableFromMs, openFromMs } = history
  for (const job of history.jobs.values()) {
    const { label, answer, answeredMs = Infinity, dueAtMs = 0 } = job
    const isSure = answer === 'accepted' && (job.door === 'gearman' || job.door === 'faktory')
    const isJoined = job.unique !== undefined || job.lock !== undefined
    if (!isSure || isJoined || job.isDeserted || job.expiresAtMs !== undefined) continue
    if (isTaken(history, job, ['ends', 'kills', 'queues', 'moves'])) continue
    const { backMs } = strayOf(history, job.submittedMs, Infinity)
    const latestMs =
      Math.max(reliableFromMs, openFromMs, answeredMs, dueAtMs + backMs) +
      maxMs +
      runs.size * workMs
    const startedMs = runs.get(label)?.[0]?.startedMs ?? Infinity
    if (startedMs > latestMs)
      yield `${label} began at ${startedMs.toFixed(0)} ms, and workers had time for it at ${latestMs.toFixed(0)} ms`
  }
}
