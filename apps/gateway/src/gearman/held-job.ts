import type { Assignment, Leased } from '@crossgear/core-scheduler'

/** A job in a worker's hands. */
export class HeldJob implements Leased {
  readonly handle: string
  readonly assignment: Assignment
  /** The ability under which it was taken. */
  readonly fn: string
  /** How long the worker may have it, milliseconds; absent: while it is connected. */
  readonly leaseMs: number | undefined
  readonly #outstayed: (held: HeldJob) => void

  constructor(
    handle: string,
    assignment: Assignment,
    { fn, leaseMs }: { readonly fn: string; readonly leaseMs?: number },
    outstayed: (held: HeldJob) => void,
  ) {
    this.handle = handle
    this.assignment = assignment
    this.fn = fn
    this.leaseMs = leaseMs
    this.#outstayed = outstayed
  }

  leaseEnded(): void {
    this.#outstayed(this)
  }
}
