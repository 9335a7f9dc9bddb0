import type { HeldRef } from '../model/job.ts'

/** A holder of leases, and how long it has been silent. */
export interface QuietHolder {
  readonly holder: string
  /** When it was last heard of, milliseconds since 1970. */
  readonly seenMs: number
  readonly quietMs: number
}

/** The part of the store for Faktory workers with leases that end when they die. */
export interface HolderStore {
  /** A holder got these leases, and is alive. */
  hold(holder: string, leases: readonly HeldRef[]): Promise<void>
  /** These leases have ended. A holder without any is forgotten. */
  drop(holder: string, tokens: readonly string[]): Promise<void>
  /** These holders are alive. */
  alive(holders: readonly string[]): Promise<void>
  /** Holders that were silent for this long, the longest first. */
  quiet(forMs: number, max: number): Promise<readonly QuietHolder[]>
  /** The leases among these that any holder has. */
  noted(tokens: readonly string[]): Promise<ReadonlySet<string>>
  /** Leases of a holder. */
  held(holder: string): Promise<readonly HeldRef[]>
}
