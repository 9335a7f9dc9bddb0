import type { Redis } from 'ioredis'
import {
  type HeldRef,
  LaneNames,
  SingleSteps,
  StoreError,
  type Job,
  type JobRef,
  type JobState,
  type JobSummary,
  type LaneCounts,
  type LaneLimits,
  type LaneOpenness,
  type LeasedJob,
  type LookExtra,
  type HeartbeatReply,
  type Step,
  type StepAnswer,
  type StepStore,
  type Store,
  type StoreListener,
  type Throttle,
  type WorkerCount,
} from '@crossgear/core-scheduler'
import { RedisAdministration } from './lanes/administration.ts'
import { RedisBatches } from './batches.ts'
import { ClockOffset } from './connection/clock-offset.ts'
import { ClusterSteps } from './cluster/cluster-steps.ts'
import { connect, eventConnection } from './connection/connection.ts'
import { RedisCron } from './cron.ts'
import { RedisHolders } from './nodes/holders.ts'
import type { CallObserver } from './connection/call-observer.ts'
import { Confirmations, questionOf, type Durability } from './connection/durability.ts'
import { tellsNothing, storeErrorOf } from './connection/errors.ts'
import { Events } from './connection/events.ts'
import { checkHealth, whyAway } from './connection/health.ts'
import { RedisImports } from './imports/imports.ts'
import { RedisInspection } from './jobs/inspection.ts'
import { JidIndex } from './jobs/jid-index.ts'
import { JobReads } from './jobs/job-reads.ts'
import { RedisJobs } from './step/job-steps.ts'
import { RedisLanes } from './lanes/lane-steps.ts'
import { RedisNativeStore } from './native/native-store.ts'
import { RedisNodes } from './nodes/node-steps.ts'
import { RedisQueues } from './lanes/queues.ts'
import type { StoreAddress } from '@crossgear/gearmonkey-redis/address'
import { RedisContext } from './connection/redis-context.ts'

/** Options of a store. Defaults at the end of each line. */
export interface RedisStoreOptions {
  /** Home queues of functions. `default` for all. */
  readonly names?: LaneNames
  /** Most dead jobs per lane; the oldest go first. 10000. */
  readonly deadPerLane?: number
  /** Retention of a dead job, seconds. 180 days. */
  readonly deadSeconds?: number
  /** How long by-name workers that left still close a lane to consumers, milliseconds. A week. */
  readonly graceMs?: number
  /** Lease of a Faktory job without a `reserve_for`, seconds. 1800. */
  readonly reserveForSeconds?: number
  /** Limits of Faktory queues, the same at every node. None. */
  readonly throttles?: ReadonlyMap<string, Throttle>
  /** A server without an answer for this long counts as unreachable, milliseconds. 5000. */
  readonly answerWithinMs?: number
  /** Required by {@link RedisStore.confirm}; not on a cluster. Default `store`. */
  readonly durability?: Durability
  /** Receives figures about calls. None. */
  readonly observer?: CallObserver
}

const defaults = {
  deadPerLane: 10_000,
  deadSeconds: 180 * 24 * 3600,
  reserveForSeconds: 1800,
  graceMs: 7 * 24 * 3600 * 1000,
}

/** The store port on a Redis or Valkey server, a master behind Sentinels, or a Redis Cluster. */
export class RedisStore extends SingleSteps implements Store {
  readonly queues: RedisQueues
  readonly batches: RedisBatches
  readonly cron: RedisCron
  readonly holders: RedisHolders
  readonly inspect: RedisInspection
  readonly native: RedisNativeStore
  /** Imports jobs from other systems. */
  readonly imports: RedisImports
  /** Asks the server if its answers are durable. Absent if `durability` is `store`. */
  readonly confirm?: () => Promise<void>
  readonly #context: RedisContext
  readonly #observer: CallObserver | undefined
  readonly #eventRedis: Redis
  readonly #events: Events
  readonly #reads: JobReads
  readonly #jids: JidIndex
  readonly #jobs: RedisJobs
  /** Absent outside a cluster. */
  readonly #cluster: ClusterSteps | undefined
  readonly #steps: StepStore
  readonly #lanes: RedisLanes
  readonly #nodes: RedisNodes
  readonly #administration: RedisAdministration
  #up = true
  /** The last error while the store is down. */
  #lastWords = ''
  #listener: StoreListener | undefined

  constructor(address: StoreAddress, options: RedisStoreOptions = {}) {
    super()
    const bounds = { ...defaults, ...options }
    const { names = new LaneNames() } = options
    const context = new RedisContext(address, names, bounds.graceMs, options)
    const clock = new ClockOffset()
    this.#context = context
    this.#observer = options.observer
    this.#eventRedis = eventConnection(address, context.node, options.answerWithinMs)
    this.#events = new Events(this.#eventRedis, context.keys, context.node)
    this.#reads = new JobReads(context)
    this.#jids = new JidIndex(context)
    this.#jobs = new RedisJobs(context, clock, bounds, {
      knowsAll: () => this.#nodes.isAlone,
      has: (lane) => this.#events.isListening(lane),
    })
    this.#lanes = new RedisLanes(context)
    this.#nodes = new RedisNodes(context, clock, bounds)
    this.#administration = new RedisAdministration(context)
    this.queues = new RedisQueues({ ...bounds, context })
    this.native = new RedisNativeStore(context, bounds)
    this.cron = new RedisCron(context)
    this.holders = new RedisHolders(context)
    this.inspect = new RedisInspection(context)
    this.batches = new RedisBatches(context)
    this.imports = new RedisImports(context, bounds)
    if (context.isCluster) {
      this.#cluster = new ClusterSteps(context, this.#jobs, clock, options.throttles ?? new Map())
    }
    const question = questionOf(options.durability ?? { level: 'store' })
    if (question) {
      // In a cluster, each server would have to be asked about its own writes, also while slots
      // move.
      if (context.isCluster) throw new StoreError('REFUSED', 'a cluster confirms nothing')
      const confirmations = new Confirmations(context.redis, question)
      this.confirm = () => confirmations.confirm()
    }
    this.#steps = this.#cluster ?? this.#jobs
    for (const redis of [context.redis, this.#eventRedis]) {
      redis.on('error', (error: Error) => {
        this.#isDown(error.message)
        if (!tellsNothing(error)) this.#lastWords = error.message
      })
      redis.on('close', () => this.#isDown('connection closed'))
      redis.on('ready', () => this.#mayBeUp())
    }
  }

  get node(): string {
    return this.#context.node
  }

  /** Connects. Throws a {@link StoreError} if the server cannot be reached. */
  async open(): Promise<void> {
    try {
      await Promise.all([connect(this.#context.redis), this.#eventRedis.connect()])
      await this.#events.start()
      await this.#context.load()
      await this.#jids.importFormer()
    } catch (error) {
      throw storeErrorOf(error)
    }
  }

  listen(listener: StoreListener): void {
    this.#listener = listener
    this.#events.listen(listener)
  }

  registerLane(lane: string): Promise<number> {
    return this.#lanes.register(lane)
  }

  lanes(): Promise<ReadonlyMap<string, number>> {
    return this.#lanes.all()
  }

  get isSharded(): boolean {
    return this.#context.isCluster
  }

  step(step: Step): Promise<StepAnswer> {
    this.#observer?.sent(step)
    return this.#steps.step(step)
  }

  abandon(lane: string, ids: readonly number[]): Promise<void> {
    return this.#jobs.abandon(lane, ids)
  }

  /** Keeps the outcomes of unfinished jobs for this long, for a caller that compares results. */
  async keepOutcomes(lane: string, ids: readonly number[], seconds: number): Promise<void> {
    const { run, keys } = this.#context
    await run('keep-outcomes', [keys.uid(lane)], [lane, seconds, ...ids])
  }

  read(lane: string, ids: readonly number[]): Promise<readonly (Job | undefined)[]> {
    return this.#reads.read(lane, ids)
  }

  look(
    lane: string,
    ids: readonly number[],
    extras?: readonly LookExtra[],
  ): Promise<readonly (JobState | undefined)[]> {
    return this.#reads.look(lane, ids, extras)
  }

  findJid(jid: string): Promise<JobRef | undefined> {
    return this.#jids.find(jid)
  }

  findUniques(
    uniques: readonly Uint8Array[],
    lanes: readonly string[],
  ): Promise<readonly (readonly JobRef[])[]> {
    return this.#jobs.findUniques(uniques, lanes)
  }

  counts(lanes: readonly string[], withOldest = false): Promise<readonly LaneCounts[]> {
    return this.#lanes.counts(lanes, withOldest)
  }

  discover(): Promise<readonly string[]> {
    return this.#lanes.discover()
  }

  nonEmpty(lanes: readonly string[]): Promise<readonly string[]> {
    return this.#lanes.nonEmpty(lanes)
  }

  async setLimits(lane: string, limits: LaneLimits): Promise<void> {
    await this.#context.call(() => this.#administration.setLimits(lane, limits))
  }

  cancel(lane: string, id: number): Promise<boolean> {
    return this.#administration.cancel(lane, id)
  }

  listJobs(
    lane: string,
    from: number,
    count: number,
  ): Promise<{ readonly jobs: readonly JobSummary[]; readonly more: boolean }> {
    return this.#administration.listJobs(lane, from, count)
  }

  clearLane(lane: string, max: number): Promise<readonly number[] | 'busy'> {
    return this.#administration.clearLane(lane, max)
  }

  async unregisterLane(lane: string): Promise<void> {
    await this.#context.call(() => this.#administration.unregisterLane(lane))
  }

  giveBackLanes(lanes: readonly string[], idleForMs: number): Promise<readonly string[]> {
    return this.#lanes.giveBack(lanes, idleForMs)
  }

  openLane(lane: string): Promise<void> {
    return this.#lanes.setOpen(lane, true)
  }

  closeLane(lane: string): Promise<void> {
    return this.#lanes.setOpen(lane, false)
  }

  openness(lanes: readonly string[]): Promise<readonly LaneOpenness[]> {
    return this.#lanes.openness(lanes)
  }

  noteBridged(lane: string): Promise<boolean> {
    return this.#lanes.noteBridged(lane)
  }

  setWorkers(counts: ReadonlyMap<string, WorkerCount>): Promise<ReadonlyMap<string, StoreError>> {
    return this.#lanes.setWorkers(counts)
  }

  promote(): Promise<readonly { lane: string; jobs: number }[]> {
    return this.#lanes.promote()
  }

  async heal(lanes: readonly string[]): Promise<readonly string[]> {
    const stranded = await this.#lanes.heal(lanes)
    await this.#cluster?.heal()
    return stranded
  }

  async expired(lanes: readonly string[], max: number): Promise<readonly LeasedJob[]> {
    const found = await this.#jobs.expired(lanes, max)
    // Leases that nobody received go back as well. A failed look is repeated.
    await this.#context.ignoreUnavailable(() => this.#jobs.settleLost())
    return found
  }

  held(lanes: readonly string[]): Promise<readonly HeldRef[]> {
    return this.#jobs.held(lanes)
  }

  beat(): Promise<HeartbeatReply> {
    void this.#events.probe()
    return this.#nodes.beat()
  }

  reclaimNode(
    node: string,
    lanes: readonly string[],
    maxLosses: number,
    failure?: string,
  ): Promise<readonly string[]> {
    return this.#nodes.reclaim(node, lanes, maxLosses, failure)
  }

  waitAgain(lane: string, clients: ReadonlyMap<number, number>): Promise<void> {
    return this.#nodes.waitAgain(lane, clients)
  }

  async leave(lanes: readonly string[]): Promise<void> {
    await this.#nodes.leave(lanes)
    await this.native.holdLeadership(0)
  }

  async watch(lanes: ReadonlySet<string> | 'all'): Promise<void> {
    await this.#context.call(() => this.#events.watch(lanes))
  }

  delivered(): Promise<void> {
    return this.#events.delivered()
  }

  async check(): Promise<void> {
    try {
      await checkHealth(this.#context, this.#eventRedis)
    } catch (error) {
      if (this.#up) throw error
      throw new StoreError('UNREACHABLE', await whyAway(this.#eventRedis, this.#lastWords), {
        cause: error,
      })
    }
  }

  close(): Promise<void> {
    this.#listener = undefined
    this.#context.redis.disconnect()
    this.#eventRedis.disconnect()
    return Promise.resolve()
  }

  #isDown(reason: string): void {
    if (!this.#up) return
    this.#up = false
    this.#lastWords = reason
    this.#listener?.down(reason)
  }

  #mayBeUp(): void {
    const ready = this.#context.redis.status === 'ready' && this.#eventRedis.status === 'ready'
    if (this.#up || !ready) return
    this.#up = true
    this.#listener?.up()
  }
}
