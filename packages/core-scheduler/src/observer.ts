import type { ClaimBy, Door, JobRef, Lease } from './model/job.ts'
import type { DroppedJob } from './store/claim-ports.ts'
import type { FailureReport } from './model/retry-rules.ts'
import type { Repair } from './store/native-ports.ts'
import type { StoreError } from './model/store-errors.ts'

/**
 * How a run ended. `failed`: for good; `died`: the same, and the job is among the dead; `retried`: the job is due again;
 * `interrupted`: without an outcome, as its worker vanished or gave it back.
 */
export type RunEnd = 'completed' | 'failed' | 'died' | 'retried' | 'interrupted'

/** An operator's acts by which jobs are counted. `requeued`: put into the queue at once. */
export type JobAct = 'cancelled' | 'deleted' | 'moved' | 'requeued' | 'killed'

/** The end of a run. */
export interface EndedRun extends JobRef {
  /** The door of the job. */
  readonly door: Door
  readonly by: ClaimBy | 'native'
  readonly end: RunEnd
  /** Undefined if it began at another node, or in a native worker. */
  readonly runMs?: number | undefined
  /** The lease of the run. */
  readonly token: string
  /** The `traceparent` of the job's creation. */
  readonly trace?: string | undefined
  /** A failure as its worker reported it. */
  readonly report?: FailureReport | undefined
}

/** Jobs of a dead node. */
export interface ReclaimedJobs {
  /** Back in their queues. */
  readonly requeued: number
  /** Ended with it: nobody waits for them any more, or they have lost too many workers. */
  readonly dropped: number
  /** Faktory workers have them, which may end them at another node. */
  readonly kept: number
}

/** Receives events for metrics and logs; once per batch if there is one. */
export interface Observer {
  /** A job came by a door. `joined`: it was coalesced with an existing one. */
  submitted(lane: string, door: Door, how: 'created' | 'joined'): void
  assigned(job: Lease): void
  ended(run: EndedRun): void
  dropped(job: DroppedJob): void
  /** An operator's act on jobs was stored. */
  acted(lane: string, act: JobAct, jobs: number): void
  /** A job has no turn of its own, since its function has too many values by which jobs take turns. */
  turnShared(lane: string): void
  store(up: boolean, reason?: string): void
  /** This node took over what a dead one left. */
  reclaimed(node: string, jobs: ReclaimedJobs): void
  /** The store has forgotten this node, which was there before: `lost` of the `held` jobs of its workers are theirs no more. */
  forgotten(jobs: { readonly held: number; readonly lost: number }): void
  /** An orphan was repaired, or with `done` false only found. */
  repaired(repair: Repair, done: boolean): void
  /** Jobs or outcomes that are stored, but less durably than was asked for. */
  unconfirmed(what: 'submissions' | 'outcomes', n: number, error: StoreError): void
  /** Outcomes that the store did not take are kept until it is back; `full`: no more of them. Told once a time. */
  outcomesKept(what: 'kept' | 'full' | 'stored'): void
  /** The automatic rule gave a job of this lane to a consumer, for the first time in this store. */
  bridged(lane: string): void
  /**
   * Closed lanes where jobs wait without by-name workers while their queues have consumers.
   * `fresh`: lanes reported for the first time.
   */
  stranded(lanes: number, fresh: readonly string[]): void
  /** A background task failed; it goes on. */
  error(task: string, error: unknown): void
}
