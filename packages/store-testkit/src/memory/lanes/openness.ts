import type { LaneOpenness } from '@crossgear/core-scheduler'
import type { MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'

/**
 * Jobs that failed at a consumer under the automatic rule are due at once for the function's own
 * workers.
 */
export function takeBackBridged(world: MemoryWorld, lane: MemoryLane): void {
  const ids = [...lane.bridged].filter((id) => lane.scheduled.delete(id))
  lane.bridged.clear()
  for (const id of ids) {
    const job = lane.job(id, world.nowMs())
    if (!job) continue
    job.enqueuedAtMs = world.nowMs()
    lane.enqueue(job)
  }
  if (ids.length > 0) world.wake(lane.lane, ids.length)
}

/** Notes by-name workers, and wakes workers for queued jobs. True for a closed lane with jobs and no such worker. */
export function healLane(world: MemoryWorld, lane: MemoryLane, graceMs: number): boolean {
  const nowMs = world.nowMs()
  if (lane.byName > 0 || lane.closedUntilMs > nowMs + graceMs) lane.noteNamed(nowMs, graceMs)
  if (lane.byName > 0) takeBackBridged(world, lane)
  const openness = lane.openness(nowMs)
  const isClosed = openness === undefined || (openness === 'auto' && !world.isAutoOpen)
  const { all, labelled } = lane.consumers
  if (lane.queued > 0 && (lane.byName > 0 || !isClosed)) world.wake(lane.lane, lane.queued)
  return isClosed && lane.byName <= 0 && lane.queued > 0 && all > 0 && labelled === 0
}

/** Says if consumers get jobs of a lane, and why. */
export function opennessOf(world: MemoryWorld, lane: MemoryLane): LaneOpenness {
  return {
    lane: lane.lane,
    state: lane.standing(world.nowMs()),
    closedUntilMs: lane.closedUntilMs,
    namedWorkers: Math.max(0, lane.byName),
  }
}
