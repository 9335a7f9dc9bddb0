import {
  LaneNames,
  StoreError,
  type HeldRef,
  type StoreErrorCode,
  type StoreListener,
} from '@crossgear/core-scheduler'
import type { MemoryBatch } from './jobs/memory-batches.ts'
import type { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import { type MemoryJob } from './memory-job.ts'
import { MemoryLane } from './memory-lane.ts'
import { MemoryNative } from './native/memory-native.ts'
import { MemoryNode } from './memory-node.ts'
import type { NativePeer, SteppedStore, StoreWorld, WorldOptions } from '../contract/store-world.ts'
import { violationsOf } from './memory-violations.ts'

/** Offset of the store's clock from the nodes' clock, milliseconds. */
const epochMs = 1_700_000_000_000

const weekMs = 7 * 24 * 3600 * 1000

/** Events for one node. */
export interface Subscriber {
  readonly node: string
  readonly events: {
    readonly watched: ReadonlySet<string> | 'all'
    readonly listener: StoreListener | undefined
  }
}

/** Runs one atomic step. */
export type Run = <Result>(step: (world: MemoryWorld) => Result) => Promise<Result>

/**
 * A store in memory shared by several nodes: a test double that also models the passing of time,
 * failures and deaths.
 */
export class MemoryWorld implements StoreWorld {
  readonly clock: ManualClock
  readonly names: LaneNames
  readonly options: WorldOptions
  readonly native: NativePeer = new MemoryNative(this)
  readonly numbers = new Map<string, number>()
  /** Node to its last heartbeat. */
  readonly beats = new Map<string, number>()
  /** The node that looks after native orphans, the store's milliseconds. */
  leader: { readonly node: string; readonly untilMs: number } | undefined
  /** Start times of jobs in queues with a rate, the latest first. */
  readonly starts = new Map<string, number[]>()
  /** Cron entries by name, as text. */
  readonly cronEntries = new Map<string, string>()
  readonly batches = new Map<string, MemoryBatch>()
  /** Lanes that the automatic rule has opened to consumers. */
  readonly bridged = new Set<string>()
  /** Holders of leases: when each was last heard of, and its leases by token. */
  readonly holders = new Map<string, { seenMs: number; readonly leases: Map<string, HeldRef> }>()
  /** Sums by begin, milliseconds since 1970. */
  readonly history = {
    minute: new Map<number, Map<string, number>>(),
    hour: new Map<number, Map<string, number>>(),
  }
  /** Paused Faktory queues. */
  readonly paused = new Set<string>()
  readonly pausedFunctions = new Set<string>()
  readonly #lanes = new Map<string, MemoryLane>()
  readonly #nodes: MemoryNode[] = []
  #lastLaneNumber = 0
  #lastArrival = 0
  #steppedMs = 0
  #outage: StoreError | undefined

  constructor(clock: ManualClock, options: WorldOptions = {}) {
    this.clock = clock
    this.options = options
    this.names = options.names ?? new LaneNames()
  }

  /** How long by-name workers close a lane to consumers, milliseconds. */
  get graceMs(): number {
    return this.options.graceMs ?? weekMs
  }

  /** The store's clock. */
  nowMs(): number {
    return epochMs + this.#steppedMs + this.clock.nowMs()
  }

  /** Steps the store's clock, ahead or back. The nodes' clocks do not follow. */
  stepClock(ms: number): void {
    this.#steppedMs += ms
  }

  /** Adds a job to the line, behind those of the same millisecond. */
  arrive(job: MemoryJob, atMs = this.nowMs()): void {
    this.#lastArrival += 1
    job.enqueuedAtMs = atMs
    job.arrival = this.#lastArrival
  }

  /** A number that no lane has had. */
  nextLaneNumber(): number {
    this.#lastLaneNumber += 1
    return this.#lastLaneNumber
  }

  lane(name: string): MemoryLane {
    let lane = this.#lanes.get(name)
    if (!lane) this.#lanes.set(name, (lane = new MemoryLane(name)))
    return lane
  }

  get lanes(): Iterable<MemoryLane> {
    return this.#lanes.values()
  }

  /** A node of that name; a name is good for one life. */
  join(name = `node${this.#nodes.length + 1}`, graceMs = this.graceMs): MemoryNode {
    if (this.#nodes.some(({ node }) => node === name)) throw new Error(`${name} has lived before`)
    const node = new MemoryNode(this, name, graceMs)
    this.#nodes.push(node)
    return node
  }

  node({ graceMs }: { readonly graceMs?: number } = {}): Promise<SteppedStore> {
    return Promise.resolve(this.join(undefined, graceMs))
  }

  /** From now on the store fails with this code. */
  break(code: StoreErrorCode = 'UNREACHABLE'): void {
    this.#outage = new StoreError(code, `the store is ${code.toLowerCase()}`)
    this.notify(
      () => true,
      (listener) => listener.down(code),
    )
  }

  /** The store works again. Events of the meantime are lost. */
  mend(): void {
    this.#outage = undefined
    this.notify(
      () => true,
      (listener) => listener.up(),
    )
  }

  /** Throws if the store is broken. */
  demand(): void {
    if (this.#outage) throw this.#outage
  }

  /** Sends an event to those nodes, a little later, as a network would. */
  notify(who: (node: Subscriber) => boolean, say: (listener: StoreListener) => void): void {
    for (const node of this.#nodes) {
      if (!who(node)) continue
      queueMicrotask(() => {
        const { listener } = node.events
        if (listener) say(listener)
      })
    }
  }

  /** Sends an event to the nodes that watch a lane. */
  notifyWatchers(lane: string, say: (listener: StoreListener) => void): void {
    this.notify(({ events: { watched } }) => watched === 'all' || watched.has(lane), say)
  }

  pass(ms: number): Promise<void> {
    return this.clock.advance(ms)
  }

  secondsLeft(lane: string, id: number): Promise<number | undefined> {
    const job = this.lane(lane).job(id, this.nowMs())
    const left = (job?.expiresAtMs ?? Infinity) - this.nowMs()
    return Promise.resolve(job && Math.ceil(left / 1000))
  }

  expire(lane: string, id: number): Promise<void> {
    this.lane(lane).delete(id)
    return Promise.resolve()
  }

  limit(lane: string, most: MemoryLane['limits']): Promise<void> {
    this.lane(lane).limits = most
    return Promise.resolve()
  }

  violations(): Promise<readonly string[]> {
    return Promise.resolve(violationsOf(this.lanes, this.nowMs()))
  }

  async close(): Promise<void> {
    for (const node of this.#nodes) await node.close()
  }
}
