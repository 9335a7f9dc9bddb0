import type { NewJob, Submitted } from '../job.ts'
import { uniqueKey, type MemoryLane } from './memory-lane.ts'
import type { MemoryWorld } from './memory-world.ts'

/** Stores one job for a node, or joins one. */
export function submitJob(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  job: NewJob,
): Submitted {
  const joined = join(world, node, lane, job)
  if (joined !== undefined) return { kind: 'joined', id: joined }
  if (lane.isFull(job.level)) return { kind: 'full' }
  const id = lane.nextId()
  const stored = {
    id,
    door: job.door,
    input: Buffer.from(job.input),
    terms: job,
    status: 'idle' as const,
    level: job.level,
    enqueuedAtMs: world.nowMs(),
    settled: false,
    losses: 0,
    waiting: job.foreground ? [node] : [],
    foreground: job.foreground,
  }
  lane.add(stored)
  if (job.unique) lane.unique.set(uniqueKey(job.unique), id)
  if (job.jid !== undefined) lane.jids.set(job.jid, id)
  if (job.dueAtMs !== undefined && job.dueAtMs > world.nowMs()) lane.scheduled.set(id, job.dueAtMs)
  else lane.enqueue(stored)
  lane.counters.submitted += 1
  world.tellWatchers(lane.lane, (listener) => listener.created(lane.lane, id))
  return { kind: 'created', id }
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
