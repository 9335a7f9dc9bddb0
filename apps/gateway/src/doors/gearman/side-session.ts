import type { Scheduler, StoreError, WorkerIdentity } from '@crossgear/core-scheduler'
import type { Connection } from '../net/connection.ts'
import type { GearmanDoorOptions } from './door-options.ts'
import type { Handles } from './handles.ts'
import type { ErrorKey, RejectReason } from './replies.ts'

/** State of the door that both sides of a connection use. */
export interface SideContext {
  readonly options: GearmanDoorOptions
  readonly handles: Handles
}

/** The part of a session that its client side and its worker side use. */
export interface SideSession {
  readonly connection: Connection
  readonly scheduler: Scheduler
  readonly context: SideContext
  /** Identity for limits per worker. */
  readonly asWorker: WorkerIdentity
  /** True while the connection is owed what becomes of jobs that it submitted. */
  readonly awaitsJobs: boolean
  /** True once the connection has ended. One that is about to end still gets its replies. */
  readonly gone: boolean
  sendError(key: ErrorKey): void
  /**
   * Counts a rejection, and the log names it. It alone answers a packet that has no reply: stock workers take an ERROR for the
   * answer to their request for a job.
   */
  rejected(reason: RejectReason, cause?: StoreError): void
  /** An ERROR to a packet that has no reply; counts it. Stock workers take it for the answer to their request for a job. */
  unasked(key: ErrorKey): Buffer
  /** Counts a refusal of the store. */
  readonly storeRefused: (refusal: StoreError) => void
  /** An ERROR packet about to be sent; counts it. */
  refusal(key: ErrorKey): Buffer
}
