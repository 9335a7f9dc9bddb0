import {
  LaneNames,
  maxLanes,
  storeDefaults,
  StoreError,
  type Clock,
  type HeldRef,
  type LaneTotals,
  type StoreErrorCode,
  type HistorySpan,
  type StoreListener,
  type Watched,
} from '@crossgear/core-scheduler'
import { copyOf } from './copy-of.ts'
import type { MemoryBatch } from './jobs/memory-batch.ts'
import { type MemoryJob } from './memory-job.ts'
import { MemoryLane, noTotals } from './memory-lane.ts'
import type { WorldOptions } from '../contract/store-world.ts'

/** Offset of the store's clock from the nodes' clock, milliseconds. */
const epochMs = 1_700_000_000_000

const listenersOf = { create: 'created', start: 'started', finish: 'finished' } as const
type LaneEvent = keyof typeof listenersOf

/** Events for one node. */
export interface Subscriber {
  readonly node: string
  readonly events: {
    readonly watched: Watched
    readonly listener: StoreListener | undefined
  }
}

interface Death {
  /** The node that reclaims it, if one does. */
  readonly by?: string
  /** Its last heartbeat by then. */
  readonly heartbeat?: number | undefined
}

/** Fields of a {@link MemoryWorld} with data. */
const dataFields = [
  'numbers',
  'formerTotals',
  'beats',
  'deaths',
  'leader',
  'starts',
  'cronEntries',
  'pausedCron',
  'batches',
  'bridged',
  'holders',
  'paused',
  'pausedFunctions',
] as const satisfies readonly (keyof MemoryWorld)[]

/** All data of a world, as they were once. */
export interface MemoryData {
  readonly fields: Readonly<Record<string, unknown>>
  readonly lanes: readonly MemoryLane[]
}

/** Runs one atomic step. */
export type Run = <Result>(step: (world: MemoryWorld) => Result) => Promise<Result>

/** The data of a store in memory, shared by its nodes, with a clock and failures. */
export class MemoryWorld {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly names: LaneNames
  readonly options: WorldOptions
  readonly numbers = new Map<string, number>()
  /** Counters of lanes that were removed. */
  formerTotals: LaneTotals = noTotals()
  /** Node to its last heartbeat. */
  readonly beats = new Map<string, number>()
  /** Nodes that were declared dead, until they are forgotten or have learnt of it. */
  readonly deaths = new Map<string, Death>()
  /** The node that looks after native orphans, the store's milliseconds. */
  leader: { readonly node: string; readonly untilMs: number } | undefined
  /** When the first lease or dead job of a lane ends, as noted, milliseconds. */
  readonly deadlines = new Map<string, number>()
  /** Start times of jobs in queues with a rate, the latest first. */
  readonly starts = new Map<string, number[]>()
  /** Cron entries by name, as text. */
  readonly cronEntries = new Map<string, string>()
  readonly pausedCron = new Set<string>()
  readonly batches = new Map<string, MemoryBatch>()
  /** Lanes that the automatic rule has opened to consumers. */
  readonly bridged = new Set<string>()
  /** Holders of leases: when each was last heard of, and its leases by token. */
  readonly holders = new Map<string, { goneMs: number; readonly leases: Map<string, HeldRef> }>()
  /** Sums of recent events by begin, milliseconds since 1970: of the whole store, or of one thing. */
  readonly #histories = new Map<string, Record<HistorySpan, Map<number, Map<string, number>>>>()
  /** Paused Faktory queues. */
  readonly paused = new Set<string>()
  readonly pausedFunctions = new Set<string>()
  protected readonly subscribers: Subscriber[] = []
  /** Native programs that listen to lanes. */
  protected readonly ears: { readonly lane: string | undefined; readonly heard: string[] }[] = []
  readonly #lanes = new Map<string, MemoryLane>()
  #epoch = 0
  #lastLaneNumber = 0
  #lastArrival = 0
  #steppedMs = 0
  #outage: StoreError | undefined

  constructor(clock: Pick<Clock, 'nowMs'>, options: WorldOptions = {}) {
    this.clock = clock
    this.options = options
    this.names = options.names ?? new LaneNames()
  }

  /** The automatic rule opens lanes to consumers. */
  get isAutoOpen(): boolean {
    return this.options.bridge !== 'routed'
  }

  /** How long by-name workers close a lane to consumers, milliseconds. */
  get graceMs(): number {
    return this.options.graceMs ?? storeDefaults.graceMs
  }

  /** The store's clock. */
  nowMs(): number {
    return epochMs + this.#steppedMs + this.clock.nowMs()
  }

  /** Steps the store's clock, forward or back. The nodes' clocks do not follow. */
  stepClock(ms: number): void {
    this.#steppedMs += ms
  }

  /** Adds a job to the line, behind those of the same millisecond. */
  arrive(job: MemoryJob, atMs = this.nowMs()): void {
    this.#lastArrival += 1
    job.arrivedAtMs ??= job.enqueuedAtMs
    job.enqueuedAtMs = atMs
    job.arrival = this.#lastArrival
  }

  /** How often the store may have lost its last writes. */
  get epoch(): number {
    return this.#epoch
  }

  /** The store may have lost its last writes. */
  nextEpoch(): void {
    this.#epoch += 1
    this.#lastLaneNumber += maxLanes
  }

  /** The data as they are now: nothing changes them. */
  copyData(): MemoryData {
    const fields = Object.fromEntries(dataFields.map((name) => [name, this[name]]))
    return { fields: copyOf(fields), lanes: [...this.lanes].map((lane) => lane.copy()) }
  }

  /** The store has these data again; what was written since is lost. */
  returnTo({ fields, lanes }: MemoryData): void {
    Object.assign(this, copyOf(fields))
    this.#lanes.clear()
    for (const lane of lanes) this.#lanes.set(lane.lane, lane.copy())
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

  /** From now on the store fails with this code. */
  break(code: StoreErrorCode = 'UNREACHABLE'): void {
    this.#outage = new StoreError(code, `the store is ${code.toLowerCase()}`)
    this.notifyAll((listener) => listener.down(code))
  }

  /** The store works again. Events of the meantime are lost. */
  mend(): void {
    this.#outage = undefined
    this.notifyAll((listener) => listener.up())
  }

  /** Throws if the store is broken. */
  demand(): void {
    if (this.#outage) throw this.#outage
  }

  /** Sends an event to those nodes, a little later, as a network would. */
  notify(who: (node: Subscriber) => boolean, say: (listener: StoreListener) => void): void {
    for (const node of this.subscribers) {
      if (!who(node)) continue
      queueMicrotask(() => {
        const { listener } = node.events
        if (listener) say(listener)
      })
    }
  }

  notifyAll(say: (listener: StoreListener) => void): void {
    this.notify(() => true, say)
  }

  /** Tells every node that jobs may have come into a lane. */
  wake(lane: string, jobs = 1): void {
    this.notifyAll((listener) => listener.woken(lane, jobs))
  }

  historyOf(of: string): Record<HistorySpan, Map<number, Map<string, number>>> {
    const known = this.#histories.get(of)
    if (known) return known
    const fresh = { minute: new Map(), hour: new Map() }
    this.#histories.set(of, fresh)
    return fresh
  }

  isListening(node: string): boolean {
    return [...this.subscribers].some((one) => one.node === node && one.events.listener)
  }

  /** Publishes an event of a job to native programs, and to nodes that watch each. */
  publish(lane: string, event: LaneEvent, id: number): void {
    for (const ear of this.ears) {
      if ((ear.lane ?? lane) === lane) ear.heard.push(`${lane} ${event}:${id}`)
    }
    this.notify(
      ({ events: { watched } }) => watched === 'each',
      (listener) => listener[listenersOf[event]](lane, id),
    )
  }

  /** The same by a native program, which nodes hear as well. */
  announce(lane: string, event: LaneEvent, id: number): void {
    this.publish(lane, event, id)
    this.notifyWatchers(lane, (listener) => listener[listenersOf[event]](lane, id))
  }

  /** Sends an event to the nodes that watch a lane, except this one. */
  notifyWatchers(lane: string, say: (listener: StoreListener) => void, except?: string): void {
    this.notify(
      ({ node, events: { watched } }) =>
        node !== except && watched !== 'each' && (watched === 'all' || watched.has(lane)),
      say,
    )
  }
}
