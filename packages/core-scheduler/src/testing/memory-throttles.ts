import type { MemoryLane } from './memory-lane.ts'
import type { MemoryWorld } from './memory-world.ts'

/** Whether a lane's queue may hand out one more job; if not, notes for how long. */
export function hasRoom(
  world: MemoryWorld,
  { lane }: MemoryLane,
  heldBack: Map<string, number>,
): boolean {
  const { queue } = world.names.parse(lane)
  const { concurrency, rate } = world.options.throttles?.get(queue) ?? {}
  const startMs = rate && world.starts.get(queue)?.[rate.jobs - 1]
  if (rate && startMs !== undefined && startMs + rate.perMs > world.nowMs()) {
    heldBack.set(queue, startMs + rate.perMs - world.nowMs())
    return false
  }
  if (concurrency === undefined || runningOf(world, queue) < concurrency) return true
  heldBack.set(queue, 0)
  return false
}

/** Whether a lane's queue has a limit. */
export function isThrottled(world: MemoryWorld, lane: string): boolean {
  return world.options.throttles?.has(world.names.parse(lane).queue) ?? false
}

/** A job has been handed out. */
export function noteStart(world: MemoryWorld, { lane }: MemoryLane): void {
  const { queue } = world.names.parse(lane)
  const { rate } = world.options.throttles?.get(queue) ?? {}
  if (!rate) return
  const starts = [world.nowMs(), ...(world.starts.get(queue) ?? [])]
  world.starts.set(queue, starts.slice(0, rate.jobs))
}

/** A job has ended: who waits for room in its queue is woken by what is next in it. */
export function tellOfRoom(world: MemoryWorld, { lane }: MemoryLane): void {
  const { queue } = world.names.parse(lane)
  if (world.options.throttles?.get(queue)?.concurrency === undefined) return
  const next = lanesOf(world, queue).find(({ queued }) => queued > 0)
  if (!next) return
  world.tell(
    () => true,
    (listener) => listener.woken(next.lane, 1),
  )
}

function runningOf(world: MemoryWorld, queue: string): number {
  return lanesOf(world, queue).reduce((sum, { busy }) => sum + busy.size, 0)
}

function lanesOf(world: MemoryWorld, queue: string): MemoryLane[] {
  return [...world.lanes].filter(({ lane }) => world.names.parse(lane).queue === queue)
}
