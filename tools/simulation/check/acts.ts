import type { History, Submitted } from './history.ts'

/** An effect on a job: it is taken away, put among the dead, queued before its time, or moved to another queue. */
export type ActKind = 'ends' | 'kills' | 'queues' | 'moves'

/** An operator's act on jobs. */
export interface Act {
  readonly kind: ActKind
  /** The jobs on which it can act. */
  readonly takes: (job: Submitted) => boolean
  readonly toQueue?: string
  /** The one job that it names: done, it has had its effect on that. */
  readonly job?: Submitted
  readonly beganMs: number
  /** Absent if no answer came: it may still go on. */
  endedMs?: number
  /** `unknown`: it failed, or nobody heard. */
  result: 'open' | 'done' | 'nothing' | 'unknown'
}

/** Acts of some kinds that may have met a job before then. */
export function actsOn(
  { acts }: History,
  job: Submitted,
  kinds: readonly ActKind[],
  beforeMs = Infinity,
): readonly Act[] {
  return acts.filter(
    ({ kind, takes, beganMs, endedMs = Infinity, result }) =>
      kinds.includes(kind) &&
      result !== 'nothing' &&
      beganMs <= beforeMs &&
      endedMs >= job.submittedMs &&
      takes(job),
  )
}

/** True if an operator may have done that to a job before then. */
export function isTaken(
  history: History,
  job: Submitted,
  kinds: readonly ActKind[],
  beforeMs?: number,
): boolean {
  return actsOn(history, job, kinds, beforeMs).length > 0
}

/** True for one job, or for two submissions that were joined; without a handle for those that may have been. */
export function areOne(one: Submitted, other: Submitted): boolean {
  if (one === other) return true
  if (one.unique === undefined || one.unique !== other.unique || one.fn !== other.fn) return false
  return one.ref === undefined || other.ref === undefined || one.ref === other.ref
}
