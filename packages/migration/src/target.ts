import type { JobRecord, RejectReason } from './record/record.ts'

/**
 * The result for a record. `known`: it came before; `joined`: a job with its unique id was there; `repeated`: it was sent
 * before as well, and nobody knows whether it came then.
 */
export type Stored =
  | { readonly kind: 'created' | 'joined' | 'known' | 'repeated' }
  | { readonly kind: 'rejected'; readonly reason: RejectReason; readonly message: string }

/** Why a job stays, and what is said of it. */
export type Fault = readonly [reason: RejectReason, message: string]

/** Where jobs go. */
export interface Target {
  /** True where a page may be given before the one ahead of it is stored. */
  readonly takesPagesAhead?: boolean
  /** Why it cannot have a job, where that can be told beforehand. */
  faultOf?(record: JobRecord): Fault | undefined
  /** True for each record that came before. Absent where it cannot tell without a change. */
  known?(records: readonly JobRecord[]): Promise<readonly boolean[]>
  /** Stores records, one result for each. Each is there, as safe as was asked for, when it settles. */
  store(records: readonly JobRecord[]): Promise<readonly Stored[]>
  /** The source has these no more. */
  moved(records: readonly JobRecord[]): Promise<void>
  /** The same, of jobs of which the import ids alone are known. */
  movedIds(importIds: readonly Buffer[]): Promise<void>
  /** The source has no job more of those that this migration stored. */
  movedAll(): Promise<void>
  close(): Promise<void>
}

/** Where a migration notes how far it is. */
export interface Ledger {
  progress(name: string): Promise<Readonly<Record<string, string>>>
  saveProgress(name: string, fields: Readonly<Record<string, string>>): Promise<void>
}
