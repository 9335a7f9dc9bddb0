import type { ServerProgram } from '@crossgear/tools/redis-server'
import type { Unstored } from '../check/faults.ts'
import type { Stage } from '../stage.ts'
import type { Fsync } from '../world/redis.ts'

/** A sequence of faults, and the promises under them. Defaults at the end of each line. */
export interface Scenario {
  readonly name: string
  /** The events, in a line. */
  readonly about: string
  /** Part of `--quick`. No. */
  readonly quick?: boolean
  /** 2. */
  readonly gateways?: 1 | 2
  /** Several servers behind the gateways, one of which replaces another. A single one. */
  readonly store?: 'sentinel' | 'cluster'
  /** always. */
  readonly fsync?: Fsync
  /** The program of the single server. redis-server. */
  readonly server?: ServerProgram
  /** A killed server loses unflushed writes, as in a power failure. No. */
  readonly forgets?: boolean
  /** The server's date jumps 20 s ahead at one SIGUSR2, and back at the next. No. */
  readonly clockSteps?: boolean
  /** Options for redis-server. None. */
  readonly redisWords?: readonly string[]
  /** Options for the gateways. None. */
  readonly gatewayWords?: readonly string[]
  /** Words for the gateways' node. None. */
  readonly nodeWords?: readonly string[]
  /** Words for Node that run the gateways at first. As they are built here. */
  readonly program?: () => readonly string[]
  /** Faults on links: proxies between peers and gateways, and between these and Redis. No. */
  readonly proxies?: boolean
  /** The scenario mostly waits, and may run beside others. No. */
  readonly waits?: boolean
  /** The share of the requested jobs that the scenario gets. 1. */
  readonly jobShare?: number
  /** Submissions a second over all clients, so that jobs last through its faults. 1500. */
  readonly ratePerSecond?: number
  /** Time for service to recover, seconds. Not measured. */
  readonly recoverWithinSeconds?: number
  /** Time for everything to be done after the last submission, seconds. 60. */
  readonly settleWithinSeconds?: number
  /** Lost workers that a job survives. Any number. */
  readonly maxLosses?: number
  /** Acknowledged jobs that a fault of the store may cost: the settings promise no more. None. */
  readonly unstored?: Unstored
  /** Missing programs, without which it is skipped. None. */
  readonly lacks?: string | undefined
  /** The faults. Called when jobs flow; ends with the last fault. */
  play(stage: Stage): Promise<void>
}

/** Jobs that last through a long fault, at a pace that leaves the machine to others. */
export function lastingThrough(
  seconds: number,
): Pick<Scenario, 'waits' | 'jobShare' | 'ratePerSecond'> {
  return seconds < 20 ? {} : { waits: true, jobShare: 0.25, ratePerSecond: 5_000 / (seconds * 1.5) }
}
