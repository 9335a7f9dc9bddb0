import type {
  AdminStore,
  DroppedPiece,
  JobSummary,
  LaneLimits,
  Taken,
} from '@crossgear/core-scheduler'
import { unregisterLane } from './registration.ts'
import { cancelJob, clearLane, listJobs } from './administration.ts'
import { MemoryPart } from '../memory-part.ts'

/** An operator's calls to a {@link MemoryWorld}. */
export class MemoryAdmin extends MemoryPart implements AdminStore {
  setLimits(lane: string, limits: LaneLimits): Promise<void> {
    return this.step((world) => {
      world.lane(lane).limits = limits
    })
  }

  limits(lanes: readonly string[]): Promise<readonly LaneLimits[]> {
    const none = { high: 0, normal: 0, low: 0 }
    return this.step((world) => lanes.map((lane) => ({ ...none, ...world.lane(lane).limits })))
  }

  cancel(lane: string, id: number, as: Taken = 'cancelled'): Promise<boolean> {
    return this.step((world) => cancelJob(world, this.node, world.lane(lane), id, as))
  }

  listJobs(
    lane: string,
    from: number,
    count: number,
  ): Promise<{ readonly jobs: readonly JobSummary[]; readonly more: boolean }> {
    return this.step((world) => listJobs(world, world.lane(lane), from, count))
  }

  dropLane(lane: string, max: number): Promise<DroppedPiece | 'busy'> {
    return this.step((world) => {
      const ids = clearLane(world, this.node, world.lane(lane), max)
      if (ids === 'busy') return 'busy'
      return ids.length < max ? { ids, laneNumber: unregisterLane(world, lane) } : { ids }
    })
  }
}
