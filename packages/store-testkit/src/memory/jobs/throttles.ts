import type { MemoryJob } from '../memory-job.ts'
import type { MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'

/** True if a lane's queue may hand out one more job; if not, notes for how long. */
export function hasRoom(
  world: MemoryWorld,
  { lane }: MemoryLane,
  worker: string,
  heldBack: Map<string, number>,
): boolean {
  const { queue } = world.names.parse(lane)
  const { rate, ...limits } = world.options.throttles?.get(queue) ?? {}
  const startMs = rate && world.starts.get(queue)?.[rate.jobs - 1]
  if (rate && startMs !== undefined && startMs + rate.perMs > world.nowMs()) {
    heldBack.set(queue, startMs + rate.perMs - world.nowMs())
    return false
  }
  const { concurrency = Infinity, perWorker = Infinity, timeoutMs } = limits
  const slots = slotsOf(world, queue, timeoutMs)
  const own = slots.filter(({ takenBy }) => takenBy === worker)
  if (slots.length < concurrency && own.length < perWorker) return true
  const firstMs = Math.min(...slots.map(({ takenAtMs = 0 }) => takenAtMs))
  heldBack.set(queue, timeoutMs === undefined ? 0 : firstMs + timeoutMs - world.nowMs())
  return false
}

/** True if a lane's queue has a limit. */
export function isThrottled(world: MemoryWorld, lane: string): boolean {
  return world.options.throttles?.has(world.names.parse(lane).queue) ?? false
}

/** Notes that a job was handed out. */
export function noteStart(world: MemoryWorld, { lane }: MemoryLane): void {
  const { queue } = world.names.parse(lane)
  const { rate } = world.options.throttles?.get(queue) ?? {}
  if (!rate) return
  const starts = [world.nowMs(), ...(world.starts.get(queue) ?? [])]
  world.starts.set(queue, starts.slice(0, rate.jobs))
}

/** A job ended: wakes a worker that waits for room in its queue. */
export function notifyOfRoom(world: MemoryWorld, { lane }: MemoryLane): void {
  const { queue } = world.names.parse(lane)
  const { concurrency, perWorker } = world.options.throttles?.get(queue) ?? {}
  if (concurrency === undefined && perWorker === undefined) return
  const next = lanesOf(world, queue).find(({ queued }) => queued > 0)
  if (!next) return
  world.notify(
    () => true,
    (listener) => listener.woken(next.lane, 1),
  )
}

/** The running jobs that count towards a queue's limit. */
function slotsOf(world: MemoryWorld, queue: string, timeoutMs = Infinity): MemoryJob[] {
  const nowMs = world.nowMs()
  return lanesOf(world, queue).flatMap((lane) =>
    [...lane.busy.keys()].flatMap((id) => {
      const job = lane.job(id, nowMs)
      return job && nowMs < (job.takenAtMs ?? 0) + timeoutMs ? [job] : []
    }),
  )
}

function lanesOf(world: MemoryWorld, queue: string): MemoryLane[] {
  return [...world.lanes].filter(({ lane }) => world.names.parse(lane).queue === queue)
}
