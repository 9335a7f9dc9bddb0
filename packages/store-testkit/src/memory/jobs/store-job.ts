import type { NewJob } from '@crossgear/core-scheduler'
import { uniqueKey, type MemoryJob } from '../memory-job.ts'
import { type MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'
import { turnsOf } from './turns.ts'

/** Writes a job and puts it in its place. `node`: where a client waits for it, if any. */
export function storeJob(
  world: MemoryWorld,
  lane: MemoryLane,
  job: NewJob,
  node: string | undefined,
): MemoryJob {
  const id = lane.nextId()
  const stored: MemoryJob = {
    id,
    door: job.door,
    input: Buffer.from(job.input),
    terms: job,
    status: 'idle',
    level: job.level,
    settled: false,
    losses: 0,
    waiting: job.foreground && node !== undefined ? [node] : [],
    foreground: job.foreground,
    ...(job.failure !== undefined && { failure: job.failure }),
  }
  world.arrive(stored)
  lane.add(stored)
  const dueMs = job.dueAtMs ?? 0
  const isAhead = dueMs > world.nowMs()
  if (job.unique) lane.unique.set(uniqueKey(job.unique), id)
  if (job.lock) {
    const fromMs = isAhead ? dueMs : world.nowMs()
    lane.uniqueLocks.set(job.lock.key, { id, untilMs: fromMs + job.lock.forMs })
  }
  if (job.jid !== undefined) lane.jids.set(job.jid, id)
  if (isAhead) lane.scheduled.set(id, dueMs)
  else if (turnsOf(world, lane)?.arrive(stored) ?? true) lane.enqueue(stored)
  lane.counters.submitted += 1
  world.publish(lane.lane, 'create', id)
  if (!isAhead) world.notifyWatchers(lane.lane, (listener) => listener.woken(lane.lane, 1), node)
  return stored
}
