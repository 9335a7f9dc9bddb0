import type { ClaimBy, Door, JobRef } from '../model/job.ts'
import type { LaneAccess, LaneGroup } from '../model/subscription.ts'

/** Limits of a Faktory queue or a function for workers behind gateways. Absent: none. */
export interface Throttle {
  /** Most jobs at a time. */
  readonly concurrency?: number
  /** Most jobs at a time per worker, see {@link ClaimRequest.worker}. Not of a function. */
  readonly perWorker?: number
  /**
   * A job running longer than this no longer counts, milliseconds. Absent: it counts until it ends.
   */
  readonly timeoutMs?: number
  /** At most this many jobs in any window of this length. */
  readonly rate?: { readonly jobs: number; readonly perMs: number }
  /**
   * Of a function: concurrency and rate are of each value of {@link NewJob.turn}, and the values take turns: of each one
   * job at a time is in line.
   */
  readonly isPerTurn?: true
}

/**
 * A job that ended without an outcome of its worker. `expired`: too late, or no client waits for it any more. `lost`: too many
 * workers vanished with it. `died`: one of these, and it is among the dead.
 */
export interface DroppedJob extends JobRef {
  readonly door: Door
  readonly how: 'expired' | 'lost' | 'died'
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
  /** Lanes of the groups' queues that nothing is taken from. None. */
  readonly paused?: ReadonlySet<string>
  /** The worker, unique over all nodes, where a queue has a limit per worker. */
  readonly worker?: string
  /**
   * Jobs to prefetch on top, for workers that will ask in a moment; none of lanes with a limit. The node holds them: those of consumers until a {@link LeaseStart}. Default 0.
   */
  readonly prefetch?: number
  /**
   * Called before the answer for each limit that holds jobs back, by its name: `waitMs` until its rate or timeout allows
   * more, 0 until one of its jobs ends. Then {@link StoreListener.woken} or {@link StoreListener.roomMade} follows.
   */
  readonly throttled?: (limit: string, waitMs: number) => void
  /** Called before the answer for each job that was dropped instead: too late, or no client waits for it any more. */
  readonly dropped?: (job: DroppedJob) => void
  /** Called before the answer if the lanes are known to hold nothing more for such a worker. */
  readonly emptied?: () => void
}
