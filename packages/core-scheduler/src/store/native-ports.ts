import type { JobRef } from '../model/job.ts'

/**
 * An orphan of a native program that died. `busy`: a job whose worker went silent; `stray`: an idle
 * job in no queue; `count`: counted workers that are gone.
 */
export type Orphan = 'busy' | 'stray' | 'count'

/** One orphan that was put right, or would have been. */
export interface Repair {
  readonly kind: Orphan
  readonly lane: string
  /** The job; of a `count` the next job in line, that nobody took. 0 where there is none. */
  readonly id: number
  /** A busy job that stays as it is; only its unique key is free again. */
  readonly left?: true
}

export interface RepairRequest {
  /** Only what has been the same for so long, milliseconds. */
  readonly leaseMs: number
  /**
   * `nothing`: tell of it, and again after the next lease. `strays`: idle jobs go back to their queues, of
   * busy ones the unique keys are freed, and they are told of again; counts stay. `all`: put all right.
   */
  readonly mends: 'nothing' | 'strays' | 'all'
  readonly max: number
  /** A job that lost so many workers is given up; 0: never. */
  readonly maxLosses: number
  /** Faktory's `failure` of such a job in the dead set. */
  readonly failure: string
}

/** One page of a walk through the store. */
export interface SurveyPage {
  /** Jobs of other doors that a native worker finished and nobody settled. */
  readonly unsettled: readonly JobRef[]
  /** Lanes where a native program may have left something. */
  readonly suspicious: readonly string[]
  /** All jobs that stood in the store since the last time that this was true have been met. */
  readonly lapEnded: boolean
}

/** The part of the store that is about what native programs do past all nodes. */
export interface NativeStore {
  /**
   * Takes or renews the right to look after native orphans for so long; false while another node has
   * it. 0 gives it back.
   */
  holdLeadership(forMs: number): Promise<boolean>
  /**
   * Lanes with native workers counted; `remember` notes since when each one's next job has waited.
   */
  workedLanes(lanes: readonly string[], remember: boolean): Promise<readonly string[]>
  /** Jobs that a native worker finished and that nobody settled. */
  unsettled(lane: string, ids: readonly number[]): Promise<readonly number[]>
  /**
   * Looks through a piece of a lane's indexes of unfinished jobs for unsettled ones, and forgets
   * entries whose job is gone. `next` goes on where it ended; undefined: that was all.
   */
  sweep(
    lane: string,
    from: string | undefined,
  ): Promise<{ readonly ids: readonly number[]; readonly next: string | undefined }>
  /**
   * The same with the index of jids: returns unsettled jobs of any lane, those that {@link sweep} does not
   * come by.
   */
  sweepJids(
    from?: string,
  ): Promise<{ readonly refs: readonly JobRef[]; readonly next: string | undefined }>
  /**
   * Looks through a further piece of all jobs, for what is unsettled; with `remember` also for orphans,
   * which are remembered with the time of the first look. However large the store, a call is short.
   */
  survey(remember: boolean): Promise<SurveyPage>
  /** Puts right, or tells of, the remembered orphans of these lanes. */
  repair(lanes: readonly string[], request: RepairRequest): Promise<readonly Repair[]>
}
