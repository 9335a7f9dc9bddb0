import type { Band, LaneNames, SingleSteps, Store, Throttle } from '@crossgear/core-scheduler'

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

/** A GearMonkey client and worker that writes straight to the store. */
export interface NativePeer {
  /** Writes a job and announces it without pushing it. Returns its id. */
  write(lane: string, input: Uint8Array): Promise<number>
  /** Sets the counter from which ids are taken. */
  setLastId(lane: string, id: number): Promise<void>
  push(lane: string, id: number, band: Band): Promise<void>
  /** Schedules a written job; `dueInMs` counts from the store's now. */
  schedule(lane: string, id: number, dueInMs: number): Promise<void>
  /** Pops the next job without marking it busy. */
  pop(lane: string): Promise<number | undefined>
  /** Pops the next job and marks it busy. */
  take(lane: string): Promise<number | undefined>
  progress(lane: string, id: number, dividend: string, divisor: string): Promise<void>
  /** Writes a mark of the broker into a job: of a foreground job, or of one that has ended. */
  mark(lane: string, id: number, mark: 'fg' | 'settled'): Promise<void>
  finish(lane: string, id: number, status: 'success' | 'error', output: Uint8Array): Promise<void>
  /** First step of finishing: writes the outcome into the job. */
  conclude(lane: string, id: number, status: 'success' | 'error', output: Uint8Array): Promise<void>
  /** Second step: lets the job expire after 25 hours. */
  retain(lane: string, id: number): Promise<void>
  /** Adds or removes a worker of a function. */
  count(lane: string, change: 1 | -1): Promise<void>
  /** How often the lock was pushed that the job's client may be blocked on. */
  locks(lane: string, id: number): Promise<number>
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
