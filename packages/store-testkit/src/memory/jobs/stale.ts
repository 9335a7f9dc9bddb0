import { bands, type DroppedJob } from '@crossgear/core-scheduler'
import { isForeground, type MemoryJob } from '../memory-job.ts'
import type { MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'
import { buryJob, endJob } from './finish.ts'

/** True for a job that has waited too long. */
export function isStale(world: MemoryWorld, { terms }: MemoryJob): boolean {
  return (terms?.staleAtMs ?? Infinity) <= world.nowMs()
}

/** Ends such a job, which is in no queue any more. */
export function endStale(world: MemoryWorld, lane: MemoryLane, job: MemoryJob): DroppedJob {
  const { id, door, terms } = job
  if (!terms?.diesStale || isForeground(job)) {
    lane.counters.expired += 1
    endJob(world, '', lane, job, 'error', Buffer.from('expired'), 'expired')
    return { lane: lane.lane, id, door, how: 'expired' }
  }
  const message = 'it waited longer than its route allows'
  job.output = Buffer.from(message)
  const failedAt = new Date(world.nowMs()).toISOString()
  const record = { errtype: 'Expired', message, retry_count: 0, remaining: 0, failed_at: failedAt }
  job.failure ??= JSON.stringify(record)
  const { staleAtMs, diesStale, ...rest } = terms
  job.terms = rest
  buryJob(world, '', lane, job, 'died')
  return { lane: lane.lane, id, door, how: 'died' }
}

/** Ends jobs at the head of each band, at most `max`; those behind one whose time is still to come are younger. */
export function endStaleIn(world: MemoryWorld, lane: MemoryLane, max: number): DroppedJob[] {
  return bands.flatMap((band) => {
    const ended: MemoryJob[] = []
    for (const id of lane.queues[band].slice(0, max)) {
      const job = lane.job(id, world.nowMs())
      if (job?.terms?.staleAtMs === undefined) continue
      if (!isStale(world, job)) break
      ended.push(job)
    }
    lane.queues[band] = lane.queues[band].filter((id) => !ended.some((job) => job.id === id))
    return ended.map((job) => endStale(world, lane, job))
  })
}
