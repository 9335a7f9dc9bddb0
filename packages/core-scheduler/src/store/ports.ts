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
import type { ConsumerNews, QueueStore } from './queue-ports.ts'
import type { Band } from '../model/levels.ts'
import type { StepStore } from './step-ports.ts'

/** Lanes that one request takes from, as one line: highest level first, there the oldest job. */
export interface LaneGroup {
  readonly lanes: readonly string[]
  /** The Faktory queue whose lanes these are, where a consumer asks for a queue. */
  readonly queue?: string
  /** How long the worker may hold a job, milliseconds; absent: while it is connected. */
  readonly leaseMs?: number
}

/** How much of a Faktory queue workers behind gateways get. Absent: any. */
export interface Throttle {
  /** Jobs at a time. */
  readonly concurrency?: number
  /** Jobs at a time that one worker has, see {@link ClaimRequest.worker}. */
  readonly perWorker?: number
  /** A job that runs for so long counts no more as one at a time, milliseconds. Absent: until it ends. */
  readonly timeoutMs?: number
  /** At most this many jobs in any window of this length. */
  readonly rate?: { readonly jobs: number; readonly perMs: number }
}

/**
 * Which lanes a consumer takes from: `any`, whose functions it named itself; `opened`, those opened for good; `auto`,
 * those as well whose function no by-name worker has been seen of for long enough.
 */
export type LaneAccess = 'any' | 'opened' | 'auto'

/** Tells if consumers are given jobs of a lane, and why. */
export interface LaneOpenness {
  readonly lane: string
  /** Opened for good, shut by an operator, closed by its by-name workers, or open as no such worker was seen. */
  readonly state: 'open' | 'shut' | 'closed' | 'auto'
  /** Until when by-name workers that were seen close it, milliseconds since 1970; 0: none was. */
  readonly closedUntilMs: number
  readonly namedWorkers: number
}

export interface ClaimRequest {
  readonly by: ClaimBy
  /** For a consumer. `auto`. */
  readonly access?: LaneAccess
  /** Taken from in this order. */
  readonly groups: readonly LaneGroup[]
  /**
   * The highest level of all groups comes first, and groups whose next jobs are of one level take turns,
   * the first in line first. false: group after group.
   */
  readonly byLevel?: boolean
  readonly max: number
  /** The asking worker, unique over all nodes, where a queue is limited by worker. */
  readonly worker?: string
  /**
   * Jobs to prefetch on top, for workers that will ask in a moment; none where a throttle limits
   * the lanes. Default 0.
   */
  readonly ahead?: number
  /**
   * Called before the answer for each queue whose throttle held something back: for so long by its rate or its
   * timeout, milliseconds; 0: until a job of it ends. Of that {@link StoreListener.woken} tells in either case.
   */
  readonly throttled?: (queue: string, waitMs: number) => void
  /** Called before the answer where the lanes are known to hold nothing more for such a worker. */
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
  /** Dropped when a worker would have got them, because nobody wanted them any more. */
  readonly expired: number
  /** Scheduled jobs that were queued when they were due, and those that were due for another try. */
  readonly promoted: number
  readonly requeued: number
  /** Dead jobs whose time was up. */
  readonly forgotten: number
  /** Its queue was removed, and no job has come since. */
  readonly isRemoved: boolean
  /** Since when the next job has been queued, milliseconds since 1970; absent where none is, or nobody asked. */
  readonly oldestMs?: number
}

/** How many workers behind one node a lane has. */
export interface WorkerCount {
  /** Workers that named the function. */
  readonly named: number
  /** Faktory consumers of the lane's queue. */
  readonly consumers: number
  /** Workers that named other lanes of the function alone. 0. */
  readonly elsewhere?: number
}

/** How many jobs, queued and running, a lane may hold when one of a band is added; 0: any. */
export type LaneLimits = Readonly<Record<Band, number>>

/** One job in a list. */
export interface JobSummary extends JobRef {
  /** How many workers vanished while they had it. */
  readonly losses: number
  /** Only worth running while somebody waits. */
  readonly foreground: boolean
  /** Nobody waits for it any more, and it will not be run. */
  readonly abandoned: boolean
  readonly unique?: Buffer
}

/** The answer to a heartbeat. */
export interface HeartbeatReply {
  /** The store's clock, milliseconds since 1970. */
  readonly nowMs: number
  /** The last heartbeat of each other node: a figure that is another with every beat. */
  readonly heartbeats: ReadonlyMap<string, number>
  /** True where another node had taken this one for dead: its worker counts and waiting clients are gone. */
  readonly wasReclaimed: boolean
}

/** Events that the store sends to a node. */
export interface StoreListener {
  /** A job was written in a watched lane; a native client pushes it a moment later. */
  created(lane: string, id: number): void
  /** A worker began a job of a watched lane. */
  started(lane: string, id: number): void
  /** A job of a watched lane was finished by somebody. */
  finished(lane: string, id: number): void
  /** A waiting client of this node is owed this event of a job that ran elsewhere. */
  relayed(ref: JobRef, event: JobEvent | 'finish'): void
  /** Jobs may have come into this lane by another way than a submission. */
  woken(lane: string, jobs: number): void
  laneAdded(lane: string, number: number): void
  laneDropped(lane: string): void
  /** An operator closed a lane to consumers. */
  laneClosed(lane: string): void
  /** Faktory queues were paused or resumed. */
  pausesChanged(): void
  /** Of a Faktory worker, or of `*`, all of them: an operator has an order, or it lives. */
  consumerNews(wid: string, news: ConsumerNews): void
  /** The store answers again: what was heard before may have gaps. */
  up(): void
  down(reason: string): void
}

/**
 * The store of jobs. Each method is one atomic step per lane; batches keep their order. All throw
 * a {@link StoreError} where the store cannot be reached or refuses.
 */
export interface Store extends StepStore {
  /** This node's name: part of its leases' tokens, never used twice. */
  readonly node: string

  /** A new lane is closed to consumers as its function's home lane is. */
  registerLane(lane: string): Promise<number>
  lanes(): Promise<ReadonlyMap<string, number>>

  /** Lanes are on several servers: what is asked of one must not wait for another. */
  readonly isSharded: boolean
  /** One foreground client of this node, per id, waits no longer. */
  abandon(lane: string, ids: readonly number[]): Promise<void>

  /** Whole jobs with their payloads: for what has to see them. */
  read(lane: string, ids: readonly number[]): Promise<readonly (Job | undefined)[]>
  /** Jobs without their payloads, however long those are. */
  look(
    lane: string,
    ids: readonly number[],
    extras?: readonly LookExtra[],
  ): Promise<readonly (JobState | undefined)[]>
  /** The unfinished job that a Faktory producer named so, in whatever lane. Costs the same however many there are. */
  findJid(jid: string): Promise<JobRef | undefined>
  /** For each unique id the jobs of the lanes that have it. Goes through the lanes in short steps. */
  findUniques(
    uniques: readonly Uint8Array[],
    lanes: readonly string[],
  ): Promise<readonly (readonly JobRef[])[]>
  /** With {@link LaneCounts.oldestMs} where it is asked for. */
  counts(lanes: readonly string[], withOldest?: boolean): Promise<readonly LaneCounts[]>
  /**
   * Looks a little further, at each call, for lanes that a native client made; names those that it met which
   * have jobs queued or scheduled, known lanes among them. However large the store, one call is short.
   */
  discover(): Promise<readonly string[]>
  /** Lanes with queued jobs that somebody wants. */
  nonEmpty(lanes: readonly string[]): Promise<readonly string[]>

  setLimits(lane: string, limits: LaneLimits): Promise<void>
  /** Ends a job that is queued, scheduled or reserved; false for any other. */
  cancel(lane: string, id: number): Promise<boolean>
  /** Up to `count` jobs from `from` on of each place where jobs of the lane stand. */
  listJobs(
    lane: string,
    from: number,
    count: number,
  ): Promise<{ readonly jobs: readonly JobSummary[]; readonly more: boolean }>
  /** Ends up to `max` jobs of a lane that do not run; `busy` where it has workers or jobs run. */
  clearLane(lane: string, max: number): Promise<readonly number[] | 'busy'>
  /** Takes a lane from the list, so that it gets a new number when it comes again. */
  unregisterLane(lane: string): Promise<void>
  /**
   * Forgets those of the lanes in which nothing has been for this long: no jobs, no workers, no limits, and that no
   * operator has closed. Returns them. How long is known from the first look on that found a lane so.
   */
  giveBackLanes(lanes: readonly string[], idleForMs: number): Promise<readonly string[]>

  readonly queues: QueueStore
  readonly batches: BatchStore
  readonly cron: CronStore
  readonly holders: HolderStore
  readonly native: NativeStore

  /** Opens a lane to Faktory consumers for good. */
  openLane(lane: string): Promise<void>
  /** Closes it until it is opened again. */
  closeLane(lane: string): Promise<void>
  openness(lanes: readonly string[]): Promise<readonly LaneOpenness[]>
  /** Notes that the automatic rule gave jobs of a lane to consumers; true the first time in this store. */
  noteBridged(lane: string): Promise<boolean>
  /**
   * Tells how many workers this node has in lanes, a few hundred at most. By-name workers close a lane to consumers,
   * also for a time after they left. Returns the lanes that were refused; the others are set all the same.
   */
  setWorkers(counts: ReadonlyMap<string, WorkerCount>): Promise<ReadonlyMap<string, StoreError>>

  /** Moves due jobs into their queues; returns the lanes that got some. */
  promote(): Promise<readonly { readonly lane: string; readonly jobs: number }[]>
  /**
   * Looks for scheduled jobs and queued lanes that native programs wrote unheard. Returns the closed lanes whose
   * jobs have no by-name worker, while there are consumers of their queue.
   */
  heal(lanes: readonly string[]): Promise<readonly string[]>
  /** Leases past their deadline, at most `max` a lane; they stand until an outcome ends them. */
  expired(lanes: readonly string[], max: number): Promise<readonly LeasedJob[]>
  /** Leases that this node has given out, as the store knows them. */
  held(lanes: readonly string[]): Promise<readonly HeldRef[]>
  beat(): Promise<HeartbeatReply>
  /**
   * Puts back the Gearman leases of a dead node, each as a worker lost (given up at `maxLosses`; 0:
   * never), takes away its worker counts and forgets its waiting clients. Returns the lanes that got jobs.
   */
  reclaimNode(
    node: string,
    lanes: readonly string[],
    maxLosses: number,
    /** The `failure` of a background job that is given up; absent: it is not kept. */
    failure?: string,
  ): Promise<readonly string[]>
  /** Tells the store again how many clients of this node wait for these unfinished jobs. */
  waitAgain(lane: string, clients: ReadonlyMap<number, number>): Promise<void>
  /** Leaves the nodes: worker counts go, and what is still reserved goes back. */
  leave(lanes: readonly string[]): Promise<void>

  /** Hear {@link StoreListener.created}, started and finished of exactly these lanes, or of all. */
  watch(lanes: ReadonlySet<string> | 'all'): Promise<void>
  listen(listener: StoreListener): void
  /** Settles when the listener has heard all that was published before; where nothing is heard, at once. */
  delivered(): Promise<void>
  /** Resolves when the store takes jobs; throws what keeps it from it. */
  check(): Promise<void>
  close(): Promise<void>

  /**
   * Settles when what the store has answered so far is as durable as was asked for; throws a
   * {@link StoreError}, mostly `UNCONFIRMED`, where it may not be. Absent where an answer says as much.
   */
  confirm?(): Promise<void>
}

/** Why the store did not do what was asked. */
export type StoreErrorCode =
  | 'UNREACHABLE'
  | 'TIMEOUT'
  | 'REFUSED'
  | 'TOO_MANY_LANES'
  /** It is done, but not as durable as was asked for. */
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
  /** Milliseconds that only grow; differences of it are meaningful, nothing else. */
  nowMs(): number
  /** Runs `task` after `ms`; the returned function takes it back. */
  after(ms: number, task: () => void): () => void
  /** Runs `task` when this turn of the event loop has brought all that it brings. */
  endOfTurn(task: () => void): void
}

/** The store's time, as far as this node knows it. */
export interface StoreClock {
  /** Milliseconds since 1970. */
  storeNowMs(): number
}

/** How a worker's time with a job ended. `retried`: it is queued or due again. `lost`: the worker vanished. */
export type RunEnd = 'completed' | 'failed' | 'retried' | 'lost'

/** The end of a worker's time with a job. */
export interface EndedRun {
  readonly lane: string
  /** The door of the job. */
  readonly door: Door
  readonly by: ClaimBy | 'native'
  readonly end: RunEnd
  /** Absent where it began at another node, or in a native worker. */
  readonly runMs?: number
  /** The lease that it was. */
  readonly token: string
  /** The `traceparent` of the job's creation. */
  readonly trace?: string
}

/** Hears what happens, for metrics and logs. Called once per batch where a batch is at hand. */
export interface Observer {
  /** A job came by a door. `joined`: it was coalesced with one that is there. */
  submitted(lane: string, door: Door, how: 'created' | 'joined'): void
  assigned(job: Lease): void
  ended(run: EndedRun): void
  /** An operator ended a job, which had come by this door. */
  cancelled(lane: string, door: Door): void
  store(up: boolean, reason?: string): void
  /** An orphan was repaired, or with `done` false only found. */
  repaired(repair: Repair, done: boolean): void
  /** Jobs or outcomes that are stored, but less durably than was asked for. */
  unconfirmed(what: 'submissions' | 'outcomes', n: number, error: StoreError): void
  /** The automatic rule gave a job of this lane to a consumer, for the first time in this store. */
  bridged(lane: string): void
  /**
   * In so many closed lanes jobs wait without by-name workers, while there are consumers of their queues. `fresh`:
   * those of which it was not said before.
   */
  stranded(lanes: number, fresh: readonly string[]): void
  /** A background task met an error; it goes on. */
  error(task: string, error: unknown): void
}
