import type { JobRef, NewJob } from '../model/job.ts'
import type { Band } from '../model/levels.ts'
import type { Taken } from './queue-ports.ts'

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

/** The result of one step to drop a lane. */
export interface DroppedPiece {
  /** Jobs that were ended. */
  readonly ids: readonly number[]
  /** The number that the lane had, if it is unregistered now; 0: it had none. */
  readonly laneNumber?: number
}

/**
 * The job that replaces another one. All that is absent is as the old one has it, but for the times: absent, they are now and
 * never. `origin`: how an operator's tools name the old one.
 */
export type Replacement = Partial<
  Pick<NewJob, 'input' | 'level' | 'envelope' | 'turn' | 'dueAtMs' | 'staleAtMs' | 'diesStale'>
> & { readonly origin: string }

/**
 * The answer to a replacement. `isRerun`: the new job is queued, and the old one was not. `runs`: a worker has the old one, `gone`:
 * it has ended, `awaited`: a client waits for it, `held`: a rollback keeps it among the dead jobs.
 */
export type Replaced =
  | { readonly kind: 'replaced'; readonly id: number; readonly isRerun: boolean }
  | { readonly kind: 'runs' | 'gone' | 'awaited' | 'held' }

/** The part of the store that an operator asks for. */
export interface AdminStore {
  setLimits(lane: string, limits: LaneLimits): Promise<void>
  limits(lanes: readonly string[]): Promise<readonly LaneLimits[]>
  /**
   * Cancels a job that is queued, scheduled or leased; false for any other. `as`: cancelled. A leased one is not `deleted` or
   * `moved`.
   */
  cancel(lane: string, id: number, as?: Taken): Promise<boolean>
  /** Puts another job into the place of one that does not run, in one step: both, or neither. */
  replace(lane: string, id: number, job: Replacement): Promise<Replaced>
  /** Up to `count` jobs, from `from` on, of each place of a lane's jobs. */
  listJobs(
    lane: string,
    from: number,
    count: number,
  ): Promise<{ readonly jobs: readonly JobSummary[]; readonly more: boolean }>
  /**
   * Ends up to `max` jobs of a lane that are not running; `busy` if it has workers or running jobs. If nothing is left, the
   * lane is unregistered in the same step; it gets a new number when it comes again.
   */
  dropLane(lane: string, max: number): Promise<DroppedPiece | 'busy'>
}

/** The part of the store for cron jobs. */
export interface CronStore {
  /** Notes a job that an entry has pushed; the oldest of more than ten go. */
  noteRun(name: string, run: string): Promise<void>
  /** The last runs of an entry, the newest first. */
  runs(name: string): Promise<readonly string[]>
  /** Entries added by hand: name to text. */
  entries(): Promise<ReadonlyMap<string, string>>
  save(name: string, text: string): Promise<void>
  /** False if there is no such entry. Its pause ends. */
  remove(name: string): Promise<boolean>
  /** Names of paused entries, those of a configuration file too. */
  paused(): Promise<ReadonlySet<string>>
  setPaused(names: readonly string[], paused: boolean): Promise<void>
  /** The last tick of an entry that put a job into the lane, milliseconds since 1970. */
  lastTick(lane: string, entry: string): Promise<number | undefined>
}
