import { holderOf } from './job.ts'
import type {
  JobEvent,
  JobRef,
  JobState,
  Lease,
  LeasedJob,
  NewJob,
  Settled,
  Submitted,
} from './job.ts'
import type { Subscription } from './subscription.ts'
import type { StoreError } from './store-errors.ts'

/** A connected client that is owed the outcome of a job. */
export interface Waiter {
  onEvent(ref: JobRef, event: JobEvent): void
  /** True while much of what it was sent is not read. false. */
  readonly isBehind?: boolean
  /** Calls back once it has read that, or has left. */
  whenRead?(task: () => void): void
}

/** A submitted job, and its answer. One object per job: no closure, no promise. */
export interface Submission {
  readonly job: NewJob
  /** Receives the outcome. Present exactly for a foreground job. */
  readonly waiter?: Waiter
  /** True once the client has left: its foreground job is abandoned as soon as it exists. */
  readonly gone: boolean
  /** The store has the job. `laneNumber` is the middle part of its handle. */
  submitted(result: Submitted, laneNumber: number): void
  refused(error: StoreError): void
}

/** A job that a worker holds. */
export interface Assignment {
  readonly job: LeasedJob
  /** When it was handed out, milliseconds on the node's own clock. */
  readonly sinceMs: number
  /** True if it was found by its name alone, so that another node may have handed it out. */
  readonly isLookedUp?: true
}

/**
 * The lease of a job that was looked up, if a consumer holds it, or else the last one that a consumer lost: named workers end
 * theirs themselves.
 */
export function consumerLease(job: JobState, nowMs: number): Assignment | undefined {
  const isHeld = job.token !== undefined && holderOf(job.token) === 'consumer'
  const token = isHeld ? job.token : job.formerToken
  if (token === undefined) return undefined
  return {
    job: { ...job, token, heldBy: 'consumer' },
    sinceMs: nowMs,
    isLookedUp: true,
  }
}

/** An assignment with the payload, for the worker. */
export interface Delivery extends Assignment {
  readonly job: Lease
}

/** A worker process by its name; `isShared`: other nodes may know it by the same name. */
export interface WorkerIdentity {
  readonly name: string
  readonly isShared: boolean
}

/** A worker's request for one job, and its answer. */
export interface FetchRequest {
  readonly subscription: Subscription
  /** The worker process, for limits by worker. */
  readonly worker?: WorkerIdentity
  /**
   * True if the request came together with the end of the last job: it may be answered from this
   * node's knowledge. All others get the store's answer.
   */
  readonly isPipelined?: boolean
  /** True once the worker has left: jobs claimed for it go back at once. */
  readonly gone: boolean
  assigned(delivery: Delivery): void
  onEmpty(): void
  refused(error: StoreError): void
  /** {@link assigned} has thrown, and the job goes back: whoever asked gets no answer any more. */
  failed(error: unknown): void
}

/** The answer to an outcome. */
export interface Settlement {
  /** A refused outcome is kept, and sent to the store again until it answers: the worker would not repeat it. false. */
  readonly isRepeated?: boolean
  /** The store has it; a disk or replica may still be waited for. {@link settled} follows. */
  stored?(result: Settled): void
  settled(result: Settled): void
  /** `isKept`: {@link settled} follows all the same, once the store is back. */
  refused(error: StoreError, isKept: boolean): void
}

/** The answer to a report on a running job; `known` is false if the worker lost the job. */
export interface Reporting {
  reported(known: boolean): void
  /** A client of this node has yet to read much of what the job's worker sent. */
  awaits?(reader: Waiter): void
  refused(error: StoreError): void
}
