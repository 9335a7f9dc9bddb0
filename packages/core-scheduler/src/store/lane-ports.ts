import type { StoreError } from '../model/store-errors.ts'

/** Says if consumers get jobs of a lane, and why. */
export interface LaneOpenness {
  readonly lane: string
  /** Opened for good, shut by an operator, closed by by-name workers, or open for lack of them. */
  readonly state: 'open' | 'shut' | 'closed' | 'auto'
  /** By-name workers keep it closed until then, milliseconds since 1970; 0: none was seen. */
  readonly closedUntilMs: number
  readonly namedWorkers: number
}

/** Jobs and workers in a lane. */
export interface LaneSizes {
  readonly lane: string
  readonly high: number
  readonly normal: number
  readonly low: number
  readonly running: number
  readonly scheduled: number
  readonly dead: number
  /** Workers of all nodes and native ones that may get its jobs: consumers only where it is open to them. */
  readonly workers: number
}

/**
 * Counters of a lane. A job that leaves all places is counted once: submitted = waiting + running + scheduled + dead +
 * completed + failed + lost + expired + cancelled + deleted. The others count events on the way.
 */
export const laneCounters = [
  // Jobs that came, without those that were moved to another lane.
  'submitted',
  // Ends. `failed`: for good, and not or no longer among the dead; `lost`: given up with too many workers; `expired`: too late, or
  // no client waited any more; `cancelled` and `deleted`: by an operator.
  'completed',
  'failed',
  'lost',
  'expired',
  'cancelled',
  'deleted',
  // Failed runs: due again, or for good and among the dead.
  'retried',
  'died',
  // An operator's acts: to another lane, into the queue at once, to the dead.
  'moved',
  'rerun',
  'killed',
  // Scheduled jobs and retries that were queued when due; dead jobs that were dropped, as one of `failed`.
  'promoted',
  'requeued',
  'forgotten',
] as const
export type LaneTotals = Readonly<Record<(typeof laneCounters)[number], number>>

/** Counters, each by its name. */
export function totalsOf(figure: (name: keyof LaneTotals) => number): LaneTotals {
  return Object.fromEntries(laneCounters.map((name) => [name, figure(name)])) as LaneTotals
}

/** How long a lane is empty before it is removed, milliseconds; 0: not at all. */
export interface IdleTimes {
  /** A lane that never had a job. */
  readonly unusedMs: number
  /** A lane that had jobs. */
  readonly emptiedMs: number
  /** A lane that an operator or a route wants, or of which native clients count the consumers. */
  readonly keptMs: number
}

/** All figures of one lane. */
export interface LaneCounts extends LaneSizes, LaneTotals {
  /** Scheduled jobs that wait for a retry. */
  readonly retrying: number
  /**
   * When the next job was queued, milliseconds since 1970; undefined without a job, or if not asked
   * for.
   */
  readonly oldestMs: number | undefined
  /** The queue of the lane was removed, and no job has come since. */
  readonly isRemoved: boolean
  readonly openness: LaneOpenness['state']
}

/** Workers behind one node in a lane. */
export interface WorkerCount {
  /** Workers that named the function. */
  readonly named: number
  /** Faktory consumers of the lane's queue, without those whose labels name other functions. */
  readonly consumers: number
  /** Consumers among these with the function's label, which get its jobs also while it is closed. 0. */
  readonly labelled?: number
  /** Workers that named only other lanes of the function. 0. */
  readonly elsewhere?: number
}

/** The part of the store that knows which lanes there are, and what stands in them. */
export interface LaneStore {
  /** Registers a lane. A new one is closed to consumers if its function's home lane is. */
  register(lane: string): Promise<number>
  /** Gives no id in these lanes that a job may have had which the store has lost. */
  skipLostIds(lanes: readonly string[]): Promise<void>
  /** The numbers of all lanes. */
  all(): Promise<ReadonlyMap<string, number>>
  /** Jobs and workers in lanes, at a third of the cost of {@link counts}. */
  sizes(lanes: readonly string[]): Promise<readonly LaneSizes[]>
  /** With {@link LaneCounts.oldestMs} on request. */
  counts(lanes: readonly string[], withOldest?: boolean): Promise<readonly LaneCounts[]>
  /**
   * Walks on, at each call, in search of lanes made by native clients; returns lanes with queued or
   * scheduled jobs that the caller does not know. A call is short, however large the store.
   */
  discover(isKnown: (lane: string) => boolean): Promise<readonly string[]>
  /** For each lane a text that changes when a native program stores a job there, or counts a worker. */
  marks(lanes: readonly string[]): Promise<readonly string[]>
  /** Lanes with queued jobs that somebody wants. */
  nonEmpty(lanes: readonly string[]): Promise<readonly string[]>
  /**
   * Forgets lanes unused for so long: no jobs, by-name workers, consumers with its label or limits, and not closed by an
   * operator. Returns them with their numbers. The time counts from the first look that found a lane unused.
   */
  giveBack(lanes: readonly string[], idle: IdleTimes): Promise<ReadonlyMap<string, number>>
  /** Notes that an operator or a route wants the lane: see {@link IdleTimes.keptMs}. */
  keep(lane: string): Promise<void>
  /** The counters of all lanes that were removed. */
  formerTotals(): Promise<LaneTotals>
  resetFormerTotals(): Promise<void>
  /** Opens a lane to Faktory consumers for good. */
  open(lane: string): Promise<void>
  /** Closes it until it is opened again. */
  close(lane: string): Promise<void>
  openness(lanes: readonly string[]): Promise<readonly LaneOpenness[]>
  /** Consumers of a lane's former queue get nothing of it from now on; those of its queue are woken. */
  rehome(lane: string, former: string): Promise<void>
  /**
   * Notes that the automatic rule gave jobs of a lane to consumers; true the first time in this
   * store.
   */
  noteBridged(lane: string): Promise<boolean>
  /**
   * Sets this node's worker counts for a few hundred lanes; returns the lanes that were refused. By-name workers close a
   * lane to consumers, also for a time after they left.
   */
  setWorkers(counts: ReadonlyMap<string, WorkerCount>): Promise<ReadonlyMap<string, StoreError>>
  /** Moves due jobs into their queues; returns the lanes that got some. */
  promote(): Promise<readonly { readonly lane: string; readonly jobs: number }[]>
  /**
   * Finds scheduled jobs and queued lanes of native programs, and wakes workers for them; drops dead jobs whose time is up,
   * and notes the next deadline. Returns closed lanes with jobs, no by-name worker, and consumers of their queue.
   */
  heal(lanes: readonly string[]): Promise<readonly string[]>
  /** Notes in the index of deadlines when the first lease or dead job of each lane ends. */
  noteDeadlines(lanes: readonly string[]): Promise<void>
  /** Takes up to `max` lanes out of that index whose noted deadline has passed. */
  overdue(max: number): Promise<readonly string[]>
}
