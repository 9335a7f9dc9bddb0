import {
  LaneNames,
  SingleSteps,
  type Step,
  type StepAnswer,
  type StepStore,
  type Store,
  storeDefaults,
  StoreError,
  type Throttle,
} from '@crossgear/core-scheduler'
import type { StoreAddress } from '@crossgear/gearmonkey-redis/address'
import type { Redis } from 'ioredis'
import { RedisAudit } from './audit.ts'
import { RedisBackup } from './backup/backup-store.ts'
import { RedisBatches } from './batches.ts'
import { ClusterSteps } from './cluster/cluster-steps.ts'
import type { CallObserver } from './connection/call-observer.ts'
import { ClockOffset } from './connection/clock-offset.ts'
import { connect, eventConnection } from './connection/connection.ts'
import { Confirmations, type Durability, questionOf } from './connection/durability.ts'
import { storeErrorOf } from './connection/errors.ts'
import { Events } from './connection/events.ts'
import type { ForeignField } from './connection/foreign-field.ts'
import type { MachineClock } from './connection/clock-offset.ts'
import { Reachability } from './connection/reachability.ts'
import { RedisContext } from './connection/redis-context.ts'
import { SentinelWatch } from './connection/sentinel-watch.ts'
import { RedisCron } from './cron.ts'
import { RedisHistory } from './history.ts'
import { RedisImports } from './imports/imports.ts'
import { RedisInspection } from './jobs/inspection.ts'
import { JidIndex } from './jobs/jid-index.ts'
import { RedisJobs } from './jobs/redis-jobs.ts'
import { RedisAdministration } from './lanes/administration.ts'
import { RedisLanes } from './lanes/lane-steps.ts'
import { RedisQueues } from './lanes/queues.ts'
import { RedisNativeStore } from './native/native-store.ts'
import { RedisHolders } from './nodes/holders.ts'
import { RedisNodes } from './nodes/node-steps.ts'
import {
  Schema,
  type SchemaNews,
  type SchemaStep,
  schemaSteps,
  schemaVersion,
} from './schema/schema.ts'
import { JobSteps } from './step/job-steps.ts'

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
  /** `routed`: consumers get no lane by the automatic rule, and do not count as its workers. `auto`. */
  readonly bridge?: 'auto' | 'routed'
  /** Lease of a Faktory job without a `reserve_for`, seconds. 1800. */
  readonly reserveForSeconds?: number
  /** Limits of Faktory queues and functions, by name, the same at every node. None. */
  readonly throttles?: ReadonlyMap<string, Throttle>
  /** A server without an answer for this long counts as unreachable, milliseconds. 5000. */
  readonly answerWithinMs?: number
  /** Required by {@link RedisStore.confirm}; a cluster confirms nothing. `auto`. */
  readonly durability?: Durability
  /** Called with the number of replicas that keep up, where Sentinels look after the store. Nothing. */
  readonly onReplicas?: (count: number) => void
  /** Receives figures about calls. None. */
  readonly observer?: CallObserver
  /** Conversions of older structures, the first from version 1 to 2. Those that there are. */
  readonly schemaSteps?: readonly SchemaStep[]
  /** Called when the version of the store's structures matters. Nothing. */
  readonly onSchema?: (news: SchemaNews) => void
  /** Called for each field of a job that another program wrote and that is left out. Nothing. */
  readonly onForeignField?: (field: ForeignField) => void
  /** Name of the node, which no other node has or had. A random one. */
  readonly nodeName?: string
  /** Clock of this machine. That of Node. */
  readonly clock?: MachineClock
}

/** The store port on a Redis or Valkey server, a master that Sentinels know, or a Redis Cluster. */
export class RedisStore implements Store {
  readonly node: string
  readonly isSharded: boolean
  readonly steps: ObservedSteps
  readonly jobs: RedisJobs
  readonly lanes: RedisLanes
  readonly nodes: RedisNodes
  readonly admin: RedisAdministration
  readonly queues: RedisQueues
  readonly batches: RedisBatches
  readonly cron: RedisCron
  readonly holders: RedisHolders
  readonly inspect: RedisInspection
  readonly native: RedisNativeStore
  readonly history: RedisHistory
  readonly audit: RedisAudit
  readonly events: Events
  /** Imports jobs from other systems. */
  readonly imports: RedisImports
  /** Reads and writes what a backup has besides jobs. */
  readonly backup: RedisBackup
  /** Asks the server if its answers are durable. Absent where its answers are enough. */
  readonly confirm?: () => Promise<void>
  readonly #context: RedisContext
  readonly #eventRedis: Redis
  readonly #sentinels: SentinelWatch | undefined
  readonly #reachability: Reachability
  readonly #schema: Schema
  readonly #limited: readonly { configure(throttles: ReadonlyMap<string, Throttle>): void }[]
  readonly #jids: JidIndex

  constructor(address: StoreAddress, options: RedisStoreOptions = {}) {
    const bounds = { ...storeDefaults, ...options }
    const { names = new LaneNames() } = options
    const context = new RedisContext(address, names, bounds.graceMs, {
      ...options,
      schemaVersion: schemaVersion(options.schemaSteps),
    })
    const clock = new ClockOffset(context.clock)
    this.node = context.node
    this.isSharded = context.isCluster
    this.#context = context
    this.#eventRedis = eventConnection(address, context.node, options.answerWithinMs)
    this.#sentinels =
      'sentinels' in address
        ? new SentinelWatch(address, `crossgear:${context.node}`, context.epoch)
        : undefined
    this.#jids = new JidIndex(context)
    this.events = new Events(this.#eventRedis, context)
    this.native = new RedisNativeStore(context, bounds)
    const { events, native } = this
    const schema = new Schema(context, options.schemaSteps ?? schemaSteps, options.onSchema)
    this.#schema = schema
    this.nodes = new RedisNodes({ context, clock, events, native, schema, dead: bounds })
    const steps = new JobSteps(context, clock, bounds, {
      knowsAll: () => this.nodes.isAlone,
      has: (lane) => events.isListening(lane),
    })
    const cluster = context.isCluster
      ? new ClusterSteps(context, steps, clock, options.throttles ?? new Map())
      : undefined
    this.#limited = cluster ? [steps, cluster] : [steps]
    this.steps = new ObservedSteps(cluster ?? steps, options.observer)
    this.jobs = new RedisJobs(context, this.#jids, steps)
    this.lanes = new RedisLanes(context, clock, steps.turnLimits, cluster)
    this.admin = new RedisAdministration(context)
    this.queues = new RedisQueues({ ...bounds, context })
    this.cron = new RedisCron(context)
    this.holders = new RedisHolders(context)
    this.inspect = new RedisInspection(context)
    this.batches = new RedisBatches(context)
    this.history = new RedisHistory(context)
    this.audit = new RedisAudit(context)
    this.imports = new RedisImports(context, bounds, steps.turnLimits)
    this.backup = new RedisBackup(context, { lanes: this.lanes, queues: this.queues })
    const confirmations = confirmationsOf(context, options.durability)
    if (confirmations) this.confirm = () => confirmations.confirm()
    this.#reachability = new Reachability(context, this.#eventRedis, events)
  }

  /** Connects. Throws a {@link StoreError} if the server cannot be reached. */
  async open(): Promise<void> {
    try {
      await Promise.all([connect(this.#context.redis), this.#eventRedis.connect()])
      await this.#context.load()
      await this.#schema.check()
      this.#sentinels?.open()
      await this.#context.epoch.start(() => this.events.reconnect())
      await this.events.start()
      await this.#jids.importFormer()
    } catch (error) {
      throw storeErrorOf(error)
    }
  }

  /** Replaces the limits. */
  configure(throttles: ReadonlyMap<string, Throttle>): void {
    for (const part of this.#limited) part.configure(throttles)
  }

  check(): Promise<void> {
    return this.#reachability.check()
  }

  close(): Promise<void> {
    this.events.close()
    this.#sentinels?.close()
    this.#context.redis.disconnect()
    return Promise.resolve()
  }
}

/** Absent where the store's answer is enough. */
function confirmationsOf(
  context: RedisContext,
  durability: Durability = { level: 'auto' },
): Confirmations | undefined {
  const question = questionOf(durability, context)
  if (!question) return undefined
  // There each server would have to be asked for what it wrote, also while slots move.
  if (context.isCluster) throw new StoreError('REFUSED', 'a cluster confirms nothing')
  return new Confirmations(context.redis, question)
}

/** Tells an observer of each step. */
class ObservedSteps extends SingleSteps {
  readonly #steps: StepStore
  readonly #observer: CallObserver | undefined

  constructor(steps: StepStore, observer: CallObserver | undefined) {
    super()
    this.#steps = steps
    this.#observer = observer
  }

  step(step: Step): Promise<StepAnswer> {
    this.#observer?.sent(step)
    return this.#steps.step(step)
  }
}
