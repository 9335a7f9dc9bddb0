import { callbackEnded, ranInBatch } from './memory-batches.ts'
import type { MemoryJob } from '../memory-job.ts'
import type { MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'

/**
 * `retried`: failed and due again; `failed`: for good; `dropped`: by an operator; `expired`: nobody
 * wanted it.
 */
export type RunEnd = 'success' | 'expired' | 'retried' | 'failed' | 'dropped'

/** Releases a job's dependencies at the end of a run, or of the job. */
export function releaseDependencies(
  world: MemoryWorld,
  lane: MemoryLane,
  job: MemoryJob,
  how: RunEnd,
): void {
  if (job.door !== 'faktory') return
  const { lock, batch } = job.terms ?? {}
  if (lock && how !== 'failed' && how !== 'retried') unlock(lane, job)
  const isDone = how === 'success' || how === 'expired'
  if (batch !== undefined) {
    const ranBefore = job.ran ?? false
    job.ran = true
    ranInBatch(world, batch, ranBefore, !isDone)
  }
  if (job.callback && how !== 'retried') callbackEnded(world, job.callback, isDone)
}

/** Frees a job's lock, unless it ran out and another job holds it now. */
export function unlock(lane: MemoryLane, { id, terms }: MemoryJob): void {
  const key = terms?.lock?.key
  if (key !== undefined && lane.uniqueLocks.get(key)?.id === id) lane.uniqueLocks.delete(key)
}

/** True if another job holds the lock that a new one asks for. */
export function isLocked(world: MemoryWorld, lane: MemoryLane, key: string): boolean {
  return (lane.uniqueLocks.get(key)?.untilMs ?? 0) > world.nowMs()
}
