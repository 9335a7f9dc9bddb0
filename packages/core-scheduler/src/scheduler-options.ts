import type { Submission } from './model/requests.ts'
import type { DeadWorkerRequeue } from './maintenance/lease-holders.ts'
import type { RepairPolicy } from './maintenance/native-recovery.ts'
import type { Throttle } from './store/ports.ts'

/**
 * In which order a worker gets the jobs of the functions it named: those of the first function first, or
 * those of the highest level first, whatever their function.
 */
export type FunctionOrder = 'in-order' | 'by-level'

/** The operator's settings. Defaults stand at the end of each line. */
export interface SchedulerOptions {
  /** Home queue by function, where it is not `default`. None. */
  readonly homes?: ReadonlyMap<string, string>
  /** `auto`: consumers also get jobs of functions without a recent by-name worker. Default `auto`. */
  readonly bridge?: 'auto' | 'routed'
  /** Functions that are open to Faktory consumers whoever else works on them. None. */
  readonly routed?: ReadonlySet<string>
  /** Retries by function, over what the door says. None. */
  readonly retries?: ReadonlyMap<string, number>
  /** Seconds that a finished job stays, by function. None. */
  readonly retentionSeconds?: ReadonlyMap<string, number>
  /** Workers that a job may lose before it is given up; 0 is no limit. 0. */
  readonly maxLosses?: number
  /** Limits of Faktory queues, as the store has them. None. */
  readonly throttles?: ReadonlyMap<string, Throttle>
  /** Idle workers woken per job; 0 wakes all of the function. 1. */
  readonly wakeups?: number
  /** In which order a worker gets jobs of several functions. in-order. */
  readonly functionOrder?: FunctionOrder
  /** Policy for the orphans of native programs. Default: none. */
  readonly repair?: RepairPolicy
  /** Which jobs of a Faktory worker that is dead go back at once. others. */
  readonly deadWorkerRequeue?: DeadWorkerRequeue
  /** A Faktory worker of which nothing was heard for so long is dead, milliseconds. 60000. */
  readonly deadWorkerMs?: number
  /** Puts something around each job that is handed in, to follow it. Nothing. */
  readonly traced?: (lane: string, submission: Submission) => Submission
  /** In [0, 1), for retry delays. Math.random. */
  readonly random?: () => number
}
