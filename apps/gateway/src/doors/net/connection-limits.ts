import type { Clock } from '@crossgear/core-scheduler'
import type { BufferGarbage } from './buffer-garbage.ts'
import type { InputBudget } from './input-budget.ts'
import type { RoundRobin } from './round-robin.ts'

/** Bounds of one connection. Defaults at the end of each line. */
export interface ConnectionLimits {
  /**
   * Bytes waiting for a peer that does not read, before the gateway stops reading from it. 256 KiB.
   */
  readonly holdBackBytes?: number
  /** Bytes waiting for a peer before it is dropped. 256 MiB. */
  readonly dropBytes?: number
  /** Time in which a peer must take some of the waiting bytes, else it is dropped, ms. 60000. */
  readonly stallMs?: number
  /** Unanswered requests of a peer before the gateway stops reading from it. 10000. */
  readonly unanswered?: number
  /** Bytes of those requests; one larger request is taken alone. 16 MiB. */
  readonly unansweredBytes?: number
  /** Bytes of results that a worker's clients have yet to read, before the gateway stops reading from it. 256 KiB. */
  readonly unreadBytes?: number
  /** The bound shared by all connections of the door. None. */
  readonly inputBudget?: InputBudget
  /** The turns shared by all connections of all doors. Of this connection alone. */
  readonly turns?: RoundRobin
  /** Counts what is read and written. None. */
  readonly garbage?: BufferGarbage
  /** Timers and turns of the event loop. The process's own. */
  readonly clock?: Clock
}

/** The bounds that are figures, each with its default. */
export type Bounds = Required<Omit<ConnectionLimits, 'inputBudget' | 'turns' | 'garbage' | 'clock'>>

const mib = 1024 * 1024

export function boundsOf(limits: ConnectionLimits): Bounds {
  return {
    holdBackBytes: limits.holdBackBytes ?? mib / 4,
    dropBytes: limits.dropBytes ?? 256 * mib,
    stallMs: limits.stallMs ?? 60_000,
    unanswered: limits.unanswered ?? 10_000,
    unansweredBytes: limits.unansweredBytes ?? 16 * mib,
    unreadBytes: limits.unreadBytes ?? mib / 4,
  }
}
