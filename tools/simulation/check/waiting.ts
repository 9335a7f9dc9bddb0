import { isTaken } from './acts.ts'
import type { Case } from './case.ts'

/** Longest that a job waits for a worker that has nothing else to do, milliseconds. */
const maxMs = 1_000
/** Longest that a reliable worker takes for a job, milliseconds. */
const workMs = 200

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
    const latestMs =
      Math.max(reliableFromMs, openFromMs, answeredMs, dueAtMs) + maxMs + runs.size * workMs
    const startedMs = runs.get(label)?.[0]?.startedMs ?? Infinity
    if (startedMs > latestMs)
      yield `${label} began at ${startedMs.toFixed(0)} ms, and workers had time for it at ${latestMs.toFixed(0)} ms`
  }
}
