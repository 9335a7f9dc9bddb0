import type { JobRef } from '../model/job.ts'
import type { Band } from '../model/levels.ts'
import type { DroppedJob } from './claim-ports.ts'

/** Jobs of a lane that are not queued: due for the first time, due again, or dead. */
export type JobSet = 'scheduled' | 'retries' | 'dead'

/** Some jobs of a set of a lane, in their order. */
export interface SetPage {
  readonly ids: readonly number[]
  /** When each is due, or dropped: lanes have the same unit for a set. */
  readonly times: readonly number[]
  /** Members that were read. */
  readonly seen: number
}

/**
 * Ends of a job that an operator took away, by which it is counted. `moved`: another lane has it, and counts it.
 * `withdrawn`: a copy that was not needed.
 */
export type Taken = 'cancelled' | 'deleted' | 'moved' | 'withdrawn'

/**
 * A job that is scheduled for the first time gets another time, milliseconds since 1970 on the store's clock; with a past
 * one it is queued. It counts as no act.
 */
export interface Due {
  readonly dueAtMs: number
}

/** Destinations of a job of a set, chosen by an operator. */
export type SetExit = 'queue' | 'dead' | Taken | Due

/** Places of a lane's jobs. */
export type JobPlace = 'high' | 'normal' | 'low' | 'scheduled' | 'dead' | 'busy'

/** A note on a job, mostly by the worker that holds it. */
export interface JobNote {
  readonly text?: string
  /** Percentage done, 0 to 100. Waiters get it by a report, not by this. */
  readonly percent?: number
  /** Extends the lease at least until then, milliseconds since 1970; never shortens it. */
  readonly reserveUntilMs?: number
}

/** An operator's order to Faktory workers: take no more jobs, or end. */
export type ConsumerOrder = 'quiet' | 'terminate'

/**
 * News of a Faktory worker for all nodes, as its connections may be anywhere: an order, a sign of
 * life, its first connection to a node, the end of the last one, or a job of its that was settled (by jid).
 */
export type ConsumerNews = ConsumerOrder | 'alive' | 'back' | 'gone' | { readonly settled: string }

/** Some jobs of one piece of a queue, as a read found them. */
export interface QueuedPiece {
  readonly lane: string
  readonly band: Band
  /** Jobs that are taken before those of the piece. */
  readonly from: number
  /** Jobs of the piece. */
  readonly count: number
  readonly ids: readonly number[]
}

/**
 * In a piece deeper than this, from the nearer end of a queue, jobs are ended one by one: counting
 * there takes over 2 ms.
 */
export const reachableDepth = 50_000

/** A note of a pause: by whom, and when. */
export interface PauseNote {
  readonly who: string
  /** Milliseconds since 1970 on the store's clock. */
  readonly atMs: number
}

/** A kind of thing that is paused. */
export type PausedKind = 'queue' | 'function'

/** The name under which the note of a pause is kept. */
export function pauseName(kind: PausedKind, name: string): string {
  return `${kind}:${name}`
}

/** The part of the store for Faktory queues and sets of jobs. */
export interface QueueStore {
  /** Paused queues, over all nodes. */
  pausedQueues(): Promise<readonly string[]>
  /** `note`: who paused them, and when; absent: nobody knows. */
  setPaused(queues: readonly string[], paused: boolean, note?: PauseNote): Promise<void>
  /** Paused functions, and single lanes of some, over all nodes. */
  pausedFunctions(): Promise<readonly string[]>
  setFunctionsPaused(names: readonly string[], paused: boolean, note?: PauseNote): Promise<void>
  /** Notes of queues and functions that are paused, by {@link pauseName}. */
  pauseNotes(): Promise<ReadonlyMap<string, PauseNote>>
  /** Publishes news for {@link StoreListener.consumerNews} at every node; `*` is every worker. */
  notifyOfConsumer(wid: string, news: ConsumerNews): Promise<void>
  /** When the next job of each lane was queued, milliseconds since 1970. */
  oldest(lanes: readonly string[]): Promise<readonly (number | undefined)[]>
  /** Moves jobs out of a set; returns those that were in it. */
  moveJobs(
    lane: string,
    set: JobSet,
    ids: readonly number[],
    to: SetExit,
  ): Promise<readonly number[]>
  /** Ends, as deleted, up to `max` jobs in these places; fewer means that there are no more. */
  endJobs(lane: string, places: readonly JobPlace[], max: number): Promise<readonly number[]>
  /**
   * Ends those of the jobs that stand in the piece, or nearer to the end where jobs are taken. `deep`: see
   * {@link reachableDepth}.
   */
  endQueued(piece: QueuedPiece, as: Taken): Promise<readonly number[] | 'deep'>
  /** Ends up to `max` queued jobs of each band whose time is up, those that are next first: as a claim would. */
  endStale(lanes: readonly string[], max: number): Promise<readonly DroppedJob[]>
  /** Notes that a lane's queue was removed, unless jobs are queued again: see {@link LaneCounts.isRemoved}. */
  markRemoved(lane: string): Promise<void>
  /** Sets a lane's counters back: jobs that stand in it have come, and none has ended. */
  resetTotals(lane: string): Promise<void>
  /** A finished job that is kept, by its jid. */
  findFinished(jid: string): Promise<JobRef | undefined>
  /**
   * False if the lease is gone. Without a token: false if the job is gone; the note goes to any
   * job, queued or finished too, and extends no lease.
   */
  note(ref: JobRef, token: string | undefined, note: JobNote): Promise<boolean>
}
