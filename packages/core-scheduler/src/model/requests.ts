import type { LeasedJob, NewJob, Lease, Settled, Submitted } from './job.ts'
import type { Subscription } from './subscription.ts'
import type { StoreError } from '../store/ports.ts'
import type { Waiter } from '../results/waiters.ts'

/** A job that somebody hands in, and how to answer. One object per job, no closure, no promise. */
export interface Submission {
  readonly job: NewJob
  /** Receives the outcome. Present exactly for a foreground job. */
  readonly waiter?: Waiter
  /** True once the peer has left: a foreground job of it is abandoned as soon as it exists. */
  readonly gone: boolean
  /** The store has the job. `laneNumber` is the second part of its handle. */
  submitted(result: Submitted, laneNumber: number): void
  refused(error: StoreError): void
}

/** A job in a worker's hands. */
export interface Assignment {
  readonly job: LeasedJob
  /** When it was handed out, on the node's own clock in milliseconds. */
  readonly sinceMs: number
  /** True where another node may have handed it out: an outcome brought by its name alone. */
  readonly isLookedUp?: true
}

/** An assignment as the worker gets it, with the payload. */
export interface Delivery extends Assignment {
  readonly job: Lease
}

/** A worker process by its name; `isShared`: other nodes may know it by that. */
export interface WorkerIdentity {
  readonly name: string
  readonly isShared: boolean
}

/** A worker's request for one job, and how to answer. */
export interface FetchRequest {
  readonly subscription: Subscription
  /** The worker process that asks, for limits by worker. */
  readonly worker?: WorkerIdentity
  /**
   * True where the worker asks with the same breath that ends its last job: there may be nothing as far as
   * this node knows. Any other is told what the store says.
   */
  readonly isPipelined?: boolean
  /** True once the worker has left: what was claimed for it goes back at once. */
  readonly gone: boolean
  assigned(delivery: Delivery): void
  onEmpty(): void
  refused(error: StoreError): void
}

/** How to answer a worker's outcome. */
export interface Settlement {
  /** The store has it; where a disk or replica is waited for, before that. {@link settled} follows. */
  stored?(result: Settled): void
  settled(result: Settled): void
  refused(error: StoreError): void
}

/** How to answer a worker's report on a running job; `known` is false where it lost the job. */
export interface Reporting {
  reported(known: boolean): void
  refused(error: StoreError): void
}
