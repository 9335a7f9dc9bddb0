import type { NewJob } from '../model/job.ts'

/** A job that is pushed when a batch is complete or successful. Its lock and due time do not count. */
export interface BatchCallback {
  readonly lane: string
  readonly job: NewJob & { readonly jid: string }
}

export interface NewBatch {
  readonly bid: string
  readonly description: string
  /** The batch that waits for this one. */
  readonly parent?: string
  readonly complete?: BatchCallback
  readonly success?: BatchCallback
}

/** How far a callback is: not pushed, or none; pushed; done; failed for good. */
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

/**
 * Batches of jobs. One is complete when it is committed, all its jobs have run and all its children
 * are complete; it is successful when none of its jobs is failed, all its children are successful and its
 * complete callback is over: done, or failed for good. Each callback is pushed once, in the same step as
 * the outcome that brings it about. A child counts as complete when its callbacks are over, of which success
 * may not come where a job failed; and as successful when its success callback has been done.
 */
export interface BatchStore {
  /** False where the parent is not known. */
  create(batch: NewBatch): Promise<boolean>
  /** False where the batch is not known. */
  commit(bid: string): Promise<boolean>
  /** Takes a commitment back; false where the batch is not known. */
  open(bid: string): Promise<boolean>
  state(bid: string): Promise<BatchState | undefined>
  /** Forgets all batches. Their jobs stay. */
  clear(): Promise<void>
}
