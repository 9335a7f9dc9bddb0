import type { JobRecord, RejectReason } from './record.ts'

/** The result for a record. `known`: it came before; `joined`: a job with its unique id was there. */
export type Stored =
  | { readonly kind: 'created' | 'joined' | 'known' }
  | { readonly kind: 'rejected'; readonly reason: RejectReason; readonly message: string }

/** Where jobs go. */
export interface Target {
  /** Stores records, one result for each. Each is there, as safe as was asked for, when it settles. */
  store(records: readonly JobRecord[]): Promise<readonly Stored[]>
  /** The source has these no more. */
  moved(records: readonly JobRecord[]): Promise<void>
  /** The source has no job more of those that this migration stored. */
  movedAll(): Promise<void>
  close(): Promise<void>
}

/** Where a migration notes how far it is. */
export interface Ledger {
  progress(name: string): Promise<Readonly<Record<string, string>>>
  saveProgress(name: string, fields: Readonly<Record<string, string>>): Promise<void>
}
