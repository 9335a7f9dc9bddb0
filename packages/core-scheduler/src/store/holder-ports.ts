import type { HeldRef } from '../model/job.ts'

/** A holder of leases, and how long it has been silent. */
export interface QuietHolder {
  readonly holder: string
  /** When it was heard of last, milliseconds since 1970. */
  readonly seenMs: number
  readonly quietMs: number
}

/** The part of the store that knows which Faktory workers hold leases that end when the worker dies. */
export interface HolderStore {
  /** A holder has these leases, and lives. */
  hold(holder: string, leases: readonly HeldRef[]): Promise<void>
  /** These leases have ended. A holder without any is forgotten. */
  drop(holder: string, tokens: readonly string[]): Promise<void>
  /** These live, as far as they hold anything. */
  alive(holders: readonly string[]): Promise<void>
  /** Holders of which nothing was heard for so long, the longest first. */
  quiet(forMs: number, max: number): Promise<readonly QuietHolder[]>
  /** Leases of a holder. */
  held(holder: string): Promise<readonly HeldRef[]>
}
