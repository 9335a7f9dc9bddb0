import type { HeldRef } from '../model/job.ts'

/** A holder of leases that closed its connections, and how long ago. */
export interface GoneHolder {
  readonly holder: string
  /** When it went, milliseconds since 1970. */
  readonly sinceMs: number
  readonly goneMs: number
}

/** The part of the store for Faktory workers with leases that end once they are gone. */
export interface HolderStore {
  /** A holder got these leases, and is there. */
  hold(holder: string, leases: readonly HeldRef[]): Promise<void>
  /** These leases have ended. A holder without any is forgotten. */
  drop(holder: string, tokens: readonly string[]): Promise<void>
  /** These holders are there: silence is no sign that they are not. */
  alive(holders: readonly string[]): Promise<void>
  /** These holders closed all of their connections. */
  gone(holders: readonly string[]): Promise<void>
  /** Holders that have been gone for this long, the longest first. */
  goneFor(forMs: number, max: number): Promise<readonly GoneHolder[]>
  /** The leases among these that any holder has. */
  noted(tokens: readonly string[]): Promise<ReadonlySet<string>>
  /** About so many holders from a cursor on, and the next cursor; `0` begins, and is the one after the last. */
  some(
    cursor: string,
    count: number,
  ): Promise<{ readonly holders: readonly string[]; readonly next: string }>
  /** Leases of a holder. */
  held(holder: string): Promise<readonly HeldRef[]>
}
