import type {
  ClaimBy,
  Door,
  HeldRef,
  Job,
  JobEvent,
  JobRef,
  JobState,
  LeasedJob,
  LookExtra,
  Lease,
} from '../model/job.ts'
import type { NativeStore, Repair } from './native-ports.ts'
import type { BatchStore } from './batch-ports.ts'
import type { CronStore } from './cron-ports.ts'
import type { HolderStore } from './holder-ports.ts'
import type { InspectStore } from './inspect-ports.ts'
import type { ConsumerNews, QueueStore } from './queue-ports.ts'
import type { Band } from '../model/levels.ts'
import type { StepStore } from './step-ports.ts'

/** Lanes that one request takes from as one line: highest level first, then the oldest job. */
export interface LaneGroup {
  readonly lanes: readonly string[]
  /** The Faktory queue of these lanes, for a consumer's request. */
  readonly queue?: string
  /** How long the worker may hold a job, milliseconds; absent: as long as it is connected. */
  readonly leaseMs?: number
}

/** Limits of a Faktory queue for workers behind gateways. Absent: none. */
export interface Throttle {
  /** Most jobs at a time. */
  readonly concurrency?: number
  /** Most jobs at a time per worker, see {@link ClaimRequest.worker}. */
  readonly perWorker?: number
  /**
   * A job running longer than this no longer counts, milliseconds. Absent: it counts until it ends.
   */
  readonly timeoutMs?: number
  /** At most this many jobs in any window of this length. */
  readonly rate?: { readonly jobs: number; readonly perMs: number }
}

/**
 * Lanes that a consumer takes from: `any`: of functions it named; `opened`: opened for good;
 * `auto`: also those whose function has had no by-name worker for long enough.
 */
export type LaneAccess = 'any' | 'opened' | 'auto'

/** Says if consumers get jobs of a lane, and why. */
export interface LaneOpenness {
  readonly lane: string
  /** Opened for good, shut by an operator, closed by by-name workers, or open for lack of them. */
  readonly state: 'open' | 'shut' | 'closed' | 'auto'
  /** By-name workers keep it closed until then, milliseconds since 1970; 0: none was seen. */
  readonly closedUntilMs: number
  readonly namedWorkers: number
}

export interface ClaimRequest {
  readonly by: ClaimBy
  /** For a consumer. Default `auto`. */
  readonly access?: LaneAccess
  /** Taken from in this order. */
  readonly groups: readonly LaneGroup[]
  /**
   * Highest level of all groups first; groups with next jobs of one level take turns. false: group
   * after group.
   */
  readonly byLevel?: boolean
  readonly max: number
  /** The worker, unique over all nodes, where a queue has a limit per worker. */
  readonly worker?: string
  /**
   * Jobs to prefetch on top, for workers that will ask in a moment; none where a throttle limits
   * the lanes. Default 0.
   */
  readonly ahead?: number
  /**
   * Called before the answer for each queue with jobs held back by its throttle: `waitMs` until its
   * rate or timeout allows more; 0: until one of its jobs ends. {@link StoreListener.woken} follows
   * in either case.
   */
  readonly throttled?: (queue: string, waitMs: number) => void
  /** Called before the answer if the lanes are known to hold nothing more for such a worker. */
  readonly emptied?: () => void
}

/** Figures of one lane. */
export interface LaneCounts {
  readonly lane: string
  readonly high: number
  readonly normal: number
  readonly low: number
  readonly running: number
  readonly scheduled: number
  /** Scheduled jobs that wait for a retry. */
  readonly retrying: number
  readonly dead: number
  /** `count:{lane}`: workers of all nodes and native ones. */
  readonly workers: number
  readonly submitted: number
  readonly completed: number
  readonly failed: number
  readonly retried: number
  /** Dropped at a claim because nobody wanted them any more. */
  readonly expired: number
  /** Scheduled jobs and retries that were queued when due. */
  readonly promoted: number
  readonly requeued: number
  /** Dead jobs that were dropped after their time. */
  readonly forgotten: number
  /** Its queue was removed, and no job has come since. */
  readonly isRemoved: boolean
  /**
   * When the next job was queued, milliseconds since 1970; absent without a job, or if not asked
   * for.
   */
  readonly oldestMs?: number
}

/** Workers behind one node in a lane. */
export interface WorkerCount {
  /** Workers that named the function. */
  readonly named: number
  /** Faktory consumers of the lane's queue. */
  readonly consumers: number
  /** Workers that named only other lanes of the function. 0. */
  readonly elsewhere?: number
}

/**
 * Most jobs of a lane, queued and running, for a job of each band to be accepted; 0: any number.
 */
export type LaneLimits = Readonly<Record<Band, number>>

/** One job in a list. */
export interface JobSummary extends JobRef {
  /** Workers that vanished while they had it. */
  readonly losses: number
  /** A foreground job, dropped when nobody waits. */
  readonly foreground: boolean
  /** Nobody waits for it any more, so it will not run. */
  readonly abandoned: boolean
  readonly unique?: Buffer
}

/** The answer to a heartbeat. */
export interface HeartbeatReply {
  /** The store's clock, milliseconds since 1970. */
  readonly nowMs: number
  /** Last heartbeats of the other nodes: a figure that changes with every beat. */
  readonly heartbeats: ReadonlyMap<string, number>
  /** True if another node took this one for dead: its worker counts and waiters are gone. */
  readonly wasReclaimed: boolean
}

/** Events that the store sends to a node. */
export interface StoreListener {
  /** A job of a watched lane was announced; a native client pushes it a moment later. */
  created(lane: string, id: number): void
  /** A worker began a job of a watched lane. */
  started(lane: string, id: number): void
  /** A job of a watched lane was finished. */
  finished(lane: string, id: number): void
  /** An event of a job that ran elsewhere, for a waiter of this node. */
  relayed(ref: JobRef, event: JobEvent | 'finish'): void
  /** Jobs may have come into this lane without a submission. */
  woken(lane: string, jobs: number): void
  laneAdded(lane: string, number: number): void
  laneDropped(lane: string): void
  /** An operator closed a lane to consumers. */
  laneClosed(lane: string): void
  /** Faktory queues were paused or resumed. */
  pausesChanged(): void
  /** An order for a Faktory worker (or `*`, all), or a sign of life from one. */
  consumerNews(wid: string, news: ConsumerNews): void
  /** The store answers again; earlier events may be missing. */
  up(): void
  down(reason: string): void
}

/**
 * The store of jobs. Each method is one atomic step per lane; batches keep their order. Every
 * method throws a {@link StoreError} if the store cannot be reached or refuses.
 */
export interface Store extends StepStore {
  /** This node's name, part of its leases' tokens and never reused. */
  readonly node: string

  /** Registers a lane. A new one is closed to consumers if its function's home lane is. */
  registerLane(lane: string): Promise<number>
  lanes(): Promise<ReadonlyMap<string, number>>

  /** True if lanes are on several servers, so that no call may wait for another server. */
  readonly isSharded: boolean
  /** One foreground client of this node, per id, stops waiting. */
  abandon(lane: string, ids: readonly number[]): Promise<void>

  /** Whole jobs with their payloads. */
  read(lane: string, ids: readonly number[]): Promise<readonly (Job | undefined)[]>
  /** Jobs without their payloads. */
  look(
    lane: string,
    ids: readonly number[],
    extras?: readonly LookExtra[],
  ): Promise<readonly (JobState | undefined)[]>
  /** Finds an unfinished job by its producer's jid, in any lane, at constant cost. */
  findJid(jid: string): Promise<JobRef | undefined>
  /** Jobs of the lanes with each unique id. Walks the lanes in short steps. */
  findUniques(
    uniques: readonly Uint8Array[],
    lanes: readonly string[],
  ): Promise<readonly (readonly JobRef[])[]>
  /** With {@link LaneCounts.oldestMs} on request. */
  counts(lanes: readonly string[], withOldest?: boolean): Promise<readonly LaneCounts[]>
  /**
   * Walks on, at each call, in search of lanes made by native clients; returns lanes with queued or
   * scheduled jobs, known ones included. A call is short, however large the store.
   */
  discover(): Promise<readonly string[]>
  /** Lanes with queued jobs that somebody wants. */
  nonEmpty(lanes: readonly string[]): Promise<readonly string[]>

  setLimits(lane: string, limits: LaneLimits): Promise<void>
  /** Cancels a job that is queued, scheduled or leased; false for any other. */
  cancel(lane: string, id: number): Promise<boolean>
  /** Up to `count` jobs, from `from` on, of each place of a lane's jobs. */
  listJobs(
    lane: string,
    from: number,
    count: number,
  ): Promise<{ readonly jobs: readonly JobSummary[]; readonly more: boolean }>
  /**
   * Ends up to `max` jobs of a lane that are not running; `busy` if it has workers or running jobs.
   */
  clearLane(lane: string, max: number): Promise<readonly number[] | 'busy'>
  /** Unregisters a lane; it gets a new number when it comes again. */
  unregisterLane(lane: string): Promise<void>
  /**
   * Forgets lanes unused for this long: no jobs, workers or limits, and not closed by an operator.
   * Returns them. The time counts from the first look that found a lane unused.
   */
  giveBackLanes(lanes: readonly string[], idleForMs: number): Promise<readonly string[]>

  readonly queues: QueueStore
  readonly batches: BatchStore
  readonly cron: CronStore
  readonly holders: HolderStore
  readonly inspect: InspectStore
  readonly native: NativeStore

  /** Opens a lane to Faktory consumers for good. */
  openLane(lane: string): Promise<void>
  /** Closes it until it is opened again. */
  closeLane(lane: string): Promise<void>
  openness(lanes: readonly string[]): Promise<readonly LaneOpenness[]>
  /**
   * Notes that the automatic rule gave jobs of a lane to consumers; true the first time in this
   * store.
   */
  noteBridged(lane: string): Promise<boolean>
  /**
   * Sets this node's worker counts for a few hundred lanes. By-name workers close a lane to
   * consumers, also for a time after they left. Returns the lanes that were refused; all others are
   * set.
   */
  setWorkers(counts: ReadonlyMap<string, WorkerCount>): Promise<ReadonlyMap<string, StoreError>>

  /** Moves due jobs into their queues; returns the lanes that got some. */
  promote(): Promise<readonly { readonly lane: string; readonly jobs: number }[]>
  /**
   * Looks for scheduled jobs and queued lanes of native programs. Returns the closed lanes with
   * jobs, no by-name worker, and consumers of their queue.
   */
  heal(lanes: readonly string[]): Promise<readonly string[]>
  /** Expired leases, at most `max` a lane; they stand until an outcome ends them. */
  expired(lanes: readonly string[], max: number): Promise<readonly LeasedJob[]>
  /** Leases of this node, as the store knows them. */
  held(lanes: readonly string[]): Promise<readonly HeldRef[]>
  beat(): Promise<HeartbeatReply>
  /**
   * Requeues the Gearman leases of a dead node, each as a lost worker (given up at `maxLosses`; 0:
   * never); removes its worker counts and waiters. Returns the lanes that got jobs.
   */
  reclaimNode(
    node: string,
    lanes: readonly string[],
    maxLosses: number,
    /** The `failure` of a background job that is given up; absent: it is not kept. */
    failure?: string,
  ): Promise<readonly string[]>
  /** Stores again how many clients of this node wait for these unfinished jobs. */
  waitAgain(lane: string, clients: ReadonlyMap<number, number>): Promise<void>
  /** Leaves the nodes: removes worker counts, and requeues jobs still leased. */
  leave(lanes: readonly string[]): Promise<void>

  /**
   * Subscribes to {@link StoreListener.created}, started and finished of exactly these lanes, or of
   * all.
   */
  watch(lanes: ReadonlySet<string> | 'all'): Promise<void>
  listen(listener: StoreListener): void
  /**
   * Settles when the listener has received everything published before; at once if it receives
   * nothing.
   */
  delivered(): Promise<void>
  /** Resolves if the store takes jobs; throws the reason if it does not. */
  check(): Promise<void>
  close(): Promise<void>

  /**
   * Settles when all answers so far are as durable as was asked for; throws a {@link StoreError},
   * mostly `UNCONFIRMED`, if they may not be. Absent if every answer implies it.
   */
  confirm?(): Promise<void>
}

/** Why the store did not do as asked. */
export type StoreErrorCode =
  | 'UNREACHABLE'
  | 'TIMEOUT'
  | 'REFUSED'
  | 'TOO_MANY_LANES'
  /** Stored, but less durably than was asked for. */
  | 'UNCONFIRMED'

export class StoreError extends Error {
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreError'
    this.code = code
  }
}

/** Timers, so that tests can move time by hand. */
export interface Clock {
  /** Monotonic milliseconds; only differences mean anything. */
  nowMs(): number
  /** Runs `task` after `ms`; the returned function cancels it. */
  after(ms: number, task: () => void): () => void
  /** Runs `task` at the end of this turn of the event loop. */
  endOfTurn(task: () => void): void
}

/** The store's time, as far as this node knows it. */
export interface StoreClock {
  /** Milliseconds since 1970. */
  storeNowMs(): number
}

/** How a run ended. `retried`: queued or due again. `lost`: the worker vanished. */
export type RunEnd = 'completed' | 'failed' | 'retried' | 'lost'

/** The end of a run. */
export interface EndedRun {
  readonly lane: string
  /** The door of the job. */
  readonly door: Door
  readonly by: ClaimBy | 'native'
  readonly end: RunEnd
  /** Absent if it began at another node, or in a native worker. */
  readonly runMs?: number
  /** Its lease. */
  readonly token: string
  /** The `traceparent` of the job's creation. */
  readonly trace?: string
}

/** Receives events for metrics and logs; once per batch if there is one. */
export interface Observer {
  /** A job came by a door. `joined`: it was coalesced with an existing one. */
  submitted(lane: string, door: Door, how: 'created' | 'joined'): void
  assigned(job: Lease): void
  ended(run: EndedRun): void
  /** An operator cancelled a job that had come by this door. */
  cancelled(lane: string, door: Door): void
  store(up: boolean, reason?: string): void
  /** An orphan was repaired, or with `done` false only found. */
  repaired(repair: Repair, done: boolean): void
  /** Jobs or outcomes that are stored, but less durably than was asked for. */
  unconfirmed(what: 'submissions' | 'outcomes', n: number, error: StoreError): void
  /** The automatic rule gave a job of this lane to a consumer, for the first time in this store. */
  bridged(lane: string): void
  /**
   * Closed lanes where jobs wait without by-name workers while their queues have consumers.
   * `fresh`: lanes reported for the first time.
   */
  stranded(lanes: number, fresh: readonly string[]): void
  /** A background task failed; it goes on. */
  error(task: string, error: unknown): void
}
