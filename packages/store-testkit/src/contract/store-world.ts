import type { Band, LaneNames, SingleSteps, Store, Throttle } from '@crossgear/core-scheduler'

/** A store that takes the parts of a step one by one as well. */
export type SteppedStore = Store & SingleSteps

/** Options of a store, for all nodes of a world. */
export interface WorldOptions {
  readonly names?: LaneNames
  /** Dead jobs that a lane keeps. */
  readonly deadPerLane?: number
  /** Limits of Faktory queues. */
  readonly throttles?: ReadonlyMap<string, Throttle>
  /** How long by-name workers close a lane to consumers, milliseconds. A week. */
  readonly graceMs?: number
  /** How long a consumer may hold a job that does not say, seconds. */
  readonly reserveForSeconds?: number
}

/** A GearMonkey client and worker that writes to the store itself, past all nodes. */
export interface NativePeer {
  /** Writes a job and announces it, but does not push it yet. Gives its id. */
  write(lane: string, input: Uint8Array): Promise<number>
  push(lane: string, id: number, band: Band): Promise<void>
  /** Puts a written job among the scheduled ones; `dueInMs` counts from the store's now. */
  schedule(lane: string, id: number, dueInMs: number): Promise<void>
  /** Pops the next job, and does not say that it is busy. */
  pop(lane: string): Promise<number | undefined>
  /** Pops the next job and says that it is busy. */
  take(lane: string): Promise<number | undefined>
  progress(lane: string, id: number, dividend: string, divisor: string): Promise<void>
  finish(lane: string, id: number, status: 'success' | 'error', output: Uint8Array): Promise<void>
  /** The first step of finishing: writes the outcome into the job. */
  conclude(lane: string, id: number, status: 'success' | 'error', output: Uint8Array): Promise<void>
  /** The second: lets the job go after 25 hours. */
  retain(lane: string, id: number): Promise<void>
  /** Comes to a function as a worker, or leaves it. */
  count(lane: string, change: 1 | -1): Promise<void>
  /** How often the lock that its client may be blocked on was pushed. */
  locks(lane: string, id: number): Promise<number>
}

/** Nodes on one store, as the contract of stores needs them. */
export interface StoreWorld {
  readonly native: NativePeer
  /** A new node, connected; `graceMs` where it is another than that of the world. */
  node(options?: { readonly graceMs?: number }): Promise<SteppedStore>
  /** Lets time pass for all that the store holds. */
  pass(ms: number): Promise<void>
  /** How long a job's record stays: undefined for none, Infinity for no end. */
  secondsLeft(lane: string, id: number): Promise<number | undefined>
  /** A job's record goes, as at the end of its time. */
  expire(lane: string, id: number): Promise<void>
  /** Limits the jobs of a lane by band, as Gearman's `maxqueue` does. */
  limit(lane: string, most: Readonly<Partial<Record<Band, number>>>): Promise<void>
  /** Violations in the store; none for a sound one. */
  violations(): Promise<readonly string[]>
  close(): Promise<void>
}
