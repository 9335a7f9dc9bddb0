import type { Submission } from './model/requests.ts'
import type { FunctionOrder } from './model/subscription.ts'
import type { DeadWorkerRequeue } from './maintenance/lease-holders.ts'
import type { RepairPolicy } from './maintenance/native-recovery.ts'
import type { RetryRules } from './model/retry-rules.ts'
import type { RouteTerms } from './model/route-terms.ts'
import type { Throttle } from './store/claim-ports.ts'

/** Settings that may change while jobs flow. */
export type LiveSettings = Required<
  Pick<SchedulerOptions, 'homes' | 'routed' | 'routes' | 'throttles'>
>

/** The operator's settings. Defaults stand at the end of each line. */
export interface SchedulerOptions {
  /** Home queue by function, if not `default`. None. */
  readonly homes?: ReadonlyMap<string, string>
  /** `auto`: consumers also get jobs of functions without a recent by-name worker. Default `auto`. */
  readonly bridge?: 'auto' | 'routed'
  /** Functions that are always open to Faktory consumers. None. */
  readonly routed?: ReadonlySet<string>
  /** Terms of jobs by the routes of their functions. None. */
  readonly routes?: ReadonlyMap<string, RouteTerms>
  /** Workers that a job may lose before it is given up; 0: any number. 0. */
  readonly maxLosses?: number
  /** Limits of Faktory queues and functions, as the store has them. None. */
  readonly throttles?: ReadonlyMap<string, Throttle>
  /** Idle workers woken per job; 0 wakes all of the function. 1. */
  readonly wakeups?: number
  /** Order in which a worker gets jobs of several functions. in-order. */
  readonly functionOrder?: FunctionOrder
  /** Policy for the orphans of native programs. Default: none. */
  readonly repair?: RepairPolicy
  /** Jobs that a dead Faktory worker gives back at once. others. */
  readonly deadWorkerRequeue?: DeadWorkerRequeue
  /** A Faktory worker whose peer closed all its connections is dead if it stays away for so long, milliseconds. 60000. */
  readonly deadWorkerMs?: number
  /** Wraps each submission, for tracing. None. */
  readonly traced?: (lane: string, submission: Submission) => Submission
  /** Rules for jobs that fail. Every failure is final. */
  readonly retryRules?: RetryRules
}
