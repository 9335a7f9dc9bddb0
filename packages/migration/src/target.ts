import type { JobName, JobRecord, RejectReason } from './record/record.ts'

/**
 * The result for a record. `known`: it came before; `joined`: a job with its unique id was there;
 * `repeated`: it was sent before too, and may have arrived then.
 */
export type Stored =
  | { readonly kind: 'created' | 'joined' | 'known' | 'repeated' }
  | { readonly kind: 'rejected'; readonly reason: RejectReason; readonly message: string }

/** A job that stays. */
export function rejected(reason: RejectReason, message: string): Stored {
  return { kind: 'rejected', reason, message }
}

/** Why a job stays: reason and message. */
export type Fault = readonly [reason: RejectReason, message: string]

/** A system that jobs go to. */
export interface Target {
  /** True if a page may be given before the last one is stored. */
  readonly takesPagesInAdvance?: boolean
  /** Why it cannot take a job, if known in advance. */
  faultOf?(record: JobRecord): Fault | undefined
  /** True for each job that came before. Absent where it cannot tell without a change. */
  known?(names: readonly JobName[]): Promise<readonly boolean[]>
  /** Stores records, one result each; all are as durable as was asked for when it settles. */
  store(records: readonly JobRecord[]): Promise<readonly Stored[]>
  /** The source no longer has these. Absent, as the next two, where nothing is noted of it. */
  moved?(names: readonly JobName[]): Promise<void>
  /** The source no longer has these jobs, which are known by their import ids alone. */
  movedIds?(importIds: readonly Buffer[]): Promise<void>
  /** The source no longer has any job that this migration stored. */
  movedAll?(): Promise<void>
  close(): Promise<void>
}

/** Keeps a migration's progress. */
export interface Ledger {
  progress(name: string): Promise<Readonly<Record<string, string>>>
  saveProgress(name: string, fields: Readonly<Record<string, string>>): Promise<void>
}
