import type { Plan } from '../world/plan.ts'
import type { History, Run } from './history.ts'

/** Longest that a job waits for a worker that has nothing else to do, milliseconds. */
const mostMs = 1_000
/** Longest that a reliable worker takes for a job, milliseconds. */
const workMs = 200

interface Case {
  readonly plan: Plan
  readonly history: History
  readonly runs: ReadonlyMap<string, readonly Run[]>
}

/** No job waits long once there are workers for all of them that never leave. */
export function* nobodyWaitsInVain({ plan, history, runs }: Case): Iterable<string> {
  if (plan.faults.length > 0 || plan.hasThrottles || history.hasForced) return
  const { reliableFromMs } = history
  for (const job of history.jobs.values()) {
    const { label, answer, answeredMs = Infinity, dueAtMs = 0 } = job
    const isSure = answer === 'accepted' && (job.door === 'gearman' || job.door === 'faktory')
    const isJoined = job.unique !== undefined || job.lock !== undefined
    if (!isSure || isJoined || job.isDeserted) continue
    const latestMs = Math.max(reliableFromMs, answeredMs, dueAtMs) + mostMs + runs.size * workMs
    const startedMs = runs.get(label)?.[0]?.startedMs ?? Infinity
    if (startedMs > latestMs)
      yield `${label} began at ${startedMs.toFixed(0)} ms, and workers had time for it at ${latestMs.toFixed(0)} ms`
  }
}
