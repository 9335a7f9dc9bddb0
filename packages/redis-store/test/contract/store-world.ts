import type { Band, LaneNames, SingleSteps, Store, Throttle } from '@crossgear/core-scheduler'
import type { NativePeer } from '@crossgear/tools/native-peer'

/** A store that also takes the parts of a step one by one. */
export type SteppedStore = Store & { readonly steps: SingleSteps }

/** Options of a store, for all nodes of a world. */
export interface WorldOptions {
  readonly names?: LaneNames
  /** Most dead jobs per lane. */
  readonly deadPerLane?: number
  /** Retention of a dead job, seconds. 180 days. */
  readonly deadSeconds?: number
  /** Limits of Faktory queues and functions, by name. */
  readonly throttles?: ReadonlyMap<string, Throttle>
  /** How long by-name workers close a lane to consumers, milliseconds. A week. */
  readonly graceMs?: number
  /** `routed`: the automatic rule opens no lane to consumers. `auto`. */
  readonly bridge?: 'auto' | 'routed'
  /** Lease of a consumer's job without a `reserve_for`, seconds. */
  readonly reserveForSeconds?: number
}

/** Nodes on one store, for the store contract. */
export interface StoreWorld {
  readonly native: NativePeer
  /** A new, connected node; `graceMs` overrides the world's. */
  node(options?: { readonly graceMs?: number }): Promise<SteppedStore>
  /** A list that grows with each event (`mail create:7`) that a native program hears: of one lane, or of all by a pattern. */
  hear(lane?: string): Promise<readonly string[]>
  /** Lets time pass for everything in the store. */
  pass(ms: number): Promise<void>
  /** Nodes find other data in the store, whose last writes may be lost, though this time none are. */
  replaceData(): Promise<void>
  /** Time to live of a job's record: undefined if there is none, Infinity without an end. */
  secondsLeft(lane: string, id: number): Promise<number | undefined>
  /** Removes a job's record, as at the end of its time. */
  expire(lane: string, id: number): Promise<void>
  /** Limits the jobs of a lane by band, as Gearman's `maxqueue` does. */
  limit(lane: string, max: Readonly<Partial<Record<Band, number>>>): Promise<void>
  /** Violations in the store; none for a sound one. */
  violations(): Promise<readonly string[]>
  close(): Promise<void>
}
