import type { NewJob, Submitted } from '@crossgear/core-scheduler'
import { joinBatch } from './memory-batches.ts'
import { uniqueKey } from '../memory-job.ts'
import { type MemoryLane } from '../memory-lane.ts'
import { storeJob } from './store-job.ts'
import { isLocked } from './dependencies.ts'
import type { MemoryWorld } from '../memory-world.ts'

/** Stores one job for a node, or joins an existing one. */
export function submitJob(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  job: NewJob,
): Submitted {
  const joined = join(world, node, lane, job)
  if (joined !== undefined) return { kind: 'joined', id: joined }
  const { tick } = job
  if (tick && (lane.ticks.get(tick.entry) ?? 0) >= tick.atMs) return { kind: 'ticked' }
  if (job.lock && isLocked(world, lane, job.lock.key)) return { kind: 'locked' }
  if (lane.isFull(job.level)) return { kind: 'full' }
  if (job.batch !== undefined && !joinBatch(world, job.batch)) return { kind: 'unbatched' }
  if (tick) lane.ticks.set(tick.entry, tick.atMs)
  return { kind: 'created', id: storeJob(world, lane, job, node).id }
}

function join(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  { unique, foreground }: NewJob,
): number | undefined {
  const id = unique && lane.unique.get(uniqueKey(unique))
  const job = id === undefined ? undefined : lane.job(id, world.nowMs())
  if (!job || (job.status !== 'idle' && job.status !== 'busy')) return undefined
  if (foreground) job.waiting.push(node)
  else job.foreground = false
  return id
}
