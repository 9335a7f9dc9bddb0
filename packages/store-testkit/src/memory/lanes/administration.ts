import { bands, jobEnds, type JobSummary, type Taken } from '@crossgear/core-scheduler'
import { endPlaces } from './clearing.ts'
import { endJob } from '../jobs/finish.ts'
import { isForeground, type MemoryJob } from '../memory-job.ts'
import type { MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'

/** Cancels a job that is queued, scheduled, leased or a native worker's; false for any other. */
export function cancelJob(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  id: number,
  as: Taken,
): boolean {
  const job = lane.job(id, world.nowMs())
  if (!job || (job.status === 'busy' && as !== 'cancelled')) return false
  const isNatives = !leavePlace(lane, job)
  // A job that is moved has a copy by now, so it may not run.
  if (isNatives && (job.token !== undefined || !isOpenStatus(job) || as === 'moved')) return false
  lane.bookTaken(as, 1)
  // A native worker that is alive still writes its outcome.
  const minSeconds = isNatives ? jobEnds.relaySeconds : 0
  endJob(world, node, lane, job, 'error', Buffer.alloc(0), 'dropped', minSeconds)
  return true
}

function isOpenStatus({ status }: MemoryJob): boolean {
  return status === 'idle' || status === 'busy'
}

function leavePlace(lane: MemoryLane, { id, status }: MemoryJob): boolean {
  if (status === 'busy') return lane.busy.delete(id)
  if (status !== 'idle') return false
  if (lane.scheduled.delete(id)) return true
  for (const band of bands) {
    const at = lane.queues[band].indexOf(id)
    if (at < 0) continue
    lane.queues[band].splice(at, 1)
    return true
  }
  return false
}

/** Up to `count` jobs, from `from` on, of each place of a lane's jobs. */
export function listJobs(
  world: MemoryWorld,
  lane: MemoryLane,
  from: number,
  count: number,
): { readonly jobs: readonly JobSummary[]; readonly more: boolean } {
  const places = [
    ...bands.map((band) => lane.queues[band]),
    [...lane.scheduled.keys()],
    [...lane.busy.keys()],
  ]
  const pages = places.map((ids) => ids.slice(from, from + count))
  return {
    jobs: pages.flat().flatMap((id) => {
      const job = lane.job(id, world.nowMs())
      return job ? [summaryOf(lane.lane, job)] : []
    }),
    more: pages.some((page) => page.length === count),
  }
}

function summaryOf(lane: string, job: MemoryJob): JobSummary {
  const { id, losses, waiting, terms } = job
  const [unique, foreground] = [terms?.unique, isForeground(job)]
  return {
    lane,
    id,
    losses,
    foreground,
    abandoned: foreground && waiting.length === 0,
    ...(unique && { unique: Buffer.from(unique) }),
  }
}

/**
 * Ends up to `max` jobs of a lane that are not running; `busy` if it has workers or running jobs.
 */
export function clearLane(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  max: number,
): readonly number[] | 'busy' {
  if (lane.counts(world.nowMs()).workers > 0 || lane.busy.size > 0) return 'busy'
  const places = [...bands, 'scheduled', 'dead'] as const
  const ids = endPlaces(world, node, lane, { places, max, isAll: true })
  if (ids.length < max) lane.noteCleared()
  return ids
}
