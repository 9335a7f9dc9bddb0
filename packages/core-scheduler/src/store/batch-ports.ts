import type { NewJob } from '../model/job.ts'

/** A job pushed when a batch is complete or successful. Its lock and due time are ignored. */
export interface BatchCallback {
  readonly lane: string
  readonly job: NewJob & { readonly jid: string }
}

export interface NewBatch {
  readonly bid: string
  readonly description: string
  /** The parent batch, which waits for this one. */
  readonly parent?: string
  readonly complete?: BatchCallback
  readonly success?: BatchCallback
}

/** State of a callback: not pushed (or none), pushed, done, or failed for good. */
export type CallbackState = 'none' | 'pushed' | 'done' | 'failed'

export interface BatchState {
  readonly bid: string
  readonly description: string
  readonly parent?: string
  readonly createdAtMs: number
  readonly total: number
  /** Jobs that have not run. */
  readonly pending: number
  /** Jobs that ran and have not succeeded. */
  readonly failed: number
  readonly complete: CallbackState
  readonly success: CallbackState
}

/** A place in the list of batches: behind so many of those that were created at this time. */
export interface BatchPlace {
  readonly createdAtMs: number
  readonly passed: number
}

export interface BatchPage {
  readonly batches: readonly BatchState[]
  /** Absent where that was the end. */
  readonly next?: BatchPlace
}

/**
 * Batches of jobs. One is complete when it is committed, all its jobs have run and all its children
 * are complete; it is successful when none of its jobs is failed, all its children are successful and its
 * complete callback is over: done, or failed for good. Each callback is pushed once, in the same step as
 * the outcome that brings it about. A child counts as complete when its callbacks are over, of which success
 * may not come where a job failed; and as successful when its success callback has been done.
 */
export interface BatchStore {
  /** False if the parent is unknown. */
  create(batch: NewBatch): Promise<boolean>
  /** False if the batch is unknown. */
  commit(bid: string): Promise<boolean>
  /** Reopens a committed batch; false if the batch is unknown. */
  open(bid: string): Promise<boolean>
  state(bid: string): Promise<BatchState | undefined>
  /** The newest first, from a place on that an answer gave; of the last 10,000 alone. */
  list(from: BatchPlace | undefined, most: number): Promise<BatchPage>
  /** Forgets all batches. Their jobs stay. */
  clear(): Promise<void>
}
