import type { Plan } from '../world/plan.ts'
import type { History, Run, Submitted } from './history.ts'

interface Case {
  readonly plan: Plan
  readonly history: History
  readonly runs: ReadonlyMap<string, readonly Run[]>
}

/** A job that comes while another with its unique id waits is joined with that one, and does not run itself. */
export function* uniqueJobsJoin({ plan, history, runs }: Case): Iterable<string> {
  if (plan.faults.length > 0 || history.hasForced) return
  const jobs = [...history.jobs.values()].filter(
    ({ answer, unique, isDeserted }) =>
      answer === 'accepted' && unique !== undefined && !isDeserted,
  )
  const begins = ({ label }: Submitted): number => runs.get(label)?.[0]?.startedMs ?? -Infinity
  for (const job of jobs) {
    const { fn, unique, submittedMs, answeredMs = Infinity } = job
    const waiting = jobs.find(
      (other) =>
        other.fn === fn &&
        other.unique === unique &&
        (other.answeredMs ?? Infinity) < submittedMs &&
        begins(other) > answeredMs,
    )
    if (waiting && runs.has(job.label))
      yield `${job.label} ran, and came while ${waiting.label} waited, which has its unique id`
  }
}
