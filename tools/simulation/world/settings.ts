import type { FunctionOrder, Throttle } from '@crossgear/core-scheduler'

/** The settings of all gateways of a world. */
export interface Settings {
  /** Home queues of functions, if not `default`. */
  readonly homes: ReadonlyMap<string, string>
  readonly throttles: ReadonlyMap<string, Throttle>
  readonly functionOrder: FunctionOrder
  /** Entries as in a configuration file. */
  readonly cron: readonly object[]
}

/** Functions of all worlds, and their home queues. */
export const functions = ['mail', 'resize', 'report'] as const
export const queues = ['default', 'bulk', 'slow'] as const
export const homes: ReadonlyMap<string, string> = new Map([['report', 'bulk']])
/** Lease of a consumer's job, seconds: the shortest of the protocol. */
export const reserveForSeconds = 60
