import type { JobRef, Loss } from '../model/job.ts'

/**
 * An orphan of a native program that died. `busy`: a job whose worker went silent; `stray`: an idle
 * job in no queue; `count`: counted workers that are gone.
 */
export type Orphan = 'busy' | 'stray' | 'count'

/** An orphan that was repaired, or only found. */
export interface Repair {
  readonly kind: Orphan
  readonly lane: string
  /** The job; for a `count` the next job in line. 0 if there is none. */
  readonly id: number
  /** A busy job that stays as it is; only its unique key is freed. */
  readonly left?: true
}

export interface RepairRequest extends Loss {
  /** Only orphans unchanged for this long, milliseconds. */
  readonly leaseMs: number
  /**
   * `nothing`: report, and again after the next lease. `strays`: requeue idle jobs; of busy ones
   * free the unique key and report. `all`: repair everything.
   */
  readonly mends: 'nothing' | 'strays' | 'all'
  readonly max: number
}

/** One page of a walk through the store. */
export interface SurveyPage {
  /** How many jobs were looked at. */
  readonly jobs: number
  /** Jobs of other doors that a native worker finished and nobody settled. */
  readonly unsettled: readonly JobRef[]
  /** Lanes where a native program may have left an orphan. */
  readonly suspicious: readonly string[]
  /** True if every job stored since the last such page has been visited. */
  readonly lapEnded: boolean
}

/** The part of the store for work of native programs that no node saw. */
export interface NativeStore {
  /**
   * Takes or renews leadership over native orphans for this long; false while another node has it.
   * 0 gives it back.
   */
  holdLeadership(forMs: number): Promise<boolean>
  /**
   * Lanes with native workers counted; `remember` notes since when each one's next job has waited.
   */
  workedLanes(lanes: readonly string[], remember: boolean): Promise<readonly string[]>
  /** Jobs that a native worker finished and that nobody settled. */
  unsettled(lane: string, ids: readonly number[]): Promise<readonly number[]>
  /**
   * Walks a page of a lane's indexes of unfinished jobs: returns unsettled ones, drops entries of
   * jobs that are gone. `next` continues; undefined: done. `most`: entries of a page, about; a millisecond's worth.
   */
  sweep(
    lane: string,
    from: string | undefined,
    most?: number,
  ): Promise<{ readonly ids: readonly number[]; readonly next: string | undefined }>
  /**
   * Walks the index of jids: unsettled jobs of any lane that {@link sweep} does not visit.
   */
  sweepJids(
    from?: string,
    most?: number,
  ): Promise<{ readonly refs: readonly JobRef[]; readonly next: string | undefined }>
  /**
   * Walks a page of all jobs for unsettled ones; `remember` also notes orphans with the time of the
   * first look. A call is short, however large the store. `most`: jobs of a page; all that one step of the walk finds.
   */
  survey(remember: boolean, most?: number): Promise<SurveyPage>
  /** Repairs, or reports, the noted orphans of these lanes. */
  repair(lanes: readonly string[], request: RepairRequest): Promise<readonly Repair[]>
}
