import type { NewJob } from '../model/job.ts'

/** A job pushed when a batch is complete or successful. Its lock and due time are ignored. */
export interface BatchCallback {
  readonly lane: string
  readonly job: NewJob & { readonly jid: string }
}

export interface NewBatch {
  readonly bid: string
  readonly description: string
  /**
   * The parent batch. This one counts there as complete when its callbacks are over, or its complete callback where a job
   * failed, and as successful when its success callback is done.
   */
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

/** A position in the list of batches: behind this many of those that were created at this time. */
export interface BatchPlace {
  readonly createdAtMs: number
  readonly passed: number
}

export interface BatchPage {
  readonly batches: readonly BatchState[]
  /** Absent at the end of the list. */
  readonly next?: BatchPlace
}

/**
 * A batch is complete when it is committed, its jobs have run and its children are complete; successful when also none has
 * failed and its complete callback is over. Each callback is pushed once, in the step of the outcome that causes it.
 */
export interface BatchStore {
  /** False if the parent is unknown. */
  create(batch: NewBatch): Promise<boolean>
  /** False if the batch is unknown. */
  commit(bid: string): Promise<boolean>
  /** Reopens a committed batch; false if the batch is unknown. */
  open(bid: string): Promise<boolean>
  state(bid: string): Promise<BatchState | undefined>
  /** By time, `desc`: the newest first, from the position in an earlier answer; only the last 10,000. */
  list(from: BatchPlace | undefined, max: number, order?: 'asc' | 'desc'): Promise<BatchPage>
  /** Forgets all batches. Their jobs stay. */
  clear(): Promise<void>
}
