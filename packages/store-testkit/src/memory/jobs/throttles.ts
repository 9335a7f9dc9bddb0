import {
  limitedFunction,
  limitNames,
  type LaneGroup,
  type Throttle,
} from '@crossgear/core-scheduler'
import type { MemoryJob } from '../memory-job.ts'
import type { MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'

type Limit = readonly [name: string, throttle: Throttle]

/** True if a lane's queue and function may hand out one more job; if not, notes for how long. */
export function hasRoom(
  world: MemoryWorld,
  { lane }: MemoryLane,
  worker: string,
  heldBack: Map<string, number>,
): boolean {
  return limitsOf(world, lane).every((limit) => {
    const waitMs = waitOf(world, limit, worker)
    if (waitMs !== undefined) heldBack.set(limit[0], waitMs)
    return waitMs === undefined
  })
}

/** Undefined for a limit with room; else how long until it has, milliseconds, or 0: until a job ends. */
function waitOf(
  world: MemoryWorld,
  [name, { rate, concurrency = Infinity, perWorker = Infinity, timeoutMs }]: Limit,
  worker: string,
): number | undefined {
  const startMs = rate && world.starts.get(name)?.[rate.jobs - 1]
  if (rate && startMs !== undefined && startMs + rate.perMs > world.nowMs()) {
    return startMs + rate.perMs - world.nowMs()
  }
  const slots = slotsOf(world, name, timeoutMs)
  const own = slots.filter(({ takenBy }) => takenBy === worker)
  if (slots.length < concurrency && own.length < perWorker) return undefined
  const firstMs = Math.min(...slots.map(({ takenAtMs = 0 }) => takenAtMs))
  return timeoutMs === undefined ? 0 : firstMs + timeoutMs - world.nowMs()
}

/** True if a claim of this group prefetches nothing: of a queue's lanes those without a limit of their own are prefetched. */
export function isThrottled(world: MemoryWorld, { queue, lanes }: LaneGroup): boolean {
  const isByQueue = queue !== undefined && lanes.length > 1
  return lanes.some((lane) =>
    limitsOf(world, lane).some(([name]) => !isByQueue || limitedFunction(name) === undefined),
  )
}

/** True if nothing of a lane is prefetched. */
export function isLimited(world: MemoryWorld, { lane }: MemoryLane): boolean {
  return limitsOf(world, lane).length > 0
}

/** Notes that a job was handed out. */
export function noteStart(world: MemoryWorld, { lane }: MemoryLane): void {
  for (const [name, { rate }] of limitsOf(world, lane)) {
    if (!rate) continue
    const starts = [world.nowMs(), ...(world.starts.get(name) ?? [])]
    world.starts.set(name, starts.slice(0, rate.jobs))
  }
}

/** A job ended: wakes a worker that waits for room in its queue or its function. */
export function notifyOfRoom(world: MemoryWorld, { lane }: MemoryLane): void {
  for (const [name, { concurrency, perWorker }] of limitsOf(world, lane)) {
    if (concurrency === undefined && perWorker === undefined) continue
    const isOfFunction = limitedFunction(name) !== undefined
    const next = lanesOf(world, name).find(({ queued }) => queued > 0)
    if (!isOfFunction && !next) continue
    world.notifyAll((listener) => {
      if (isOfFunction) listener.roomMade(lane, 1)
      else listener.woken(next?.lane ?? lane, 1)
    })
  }
}

/** The limits that hold for a lane. */
function limitsOf({ names, options }: MemoryWorld, lane: string): readonly Limit[] {
  const { throttles } = options
  if (!throttles || throttles.size === 0) return []
  return limitNames(names.parse(lane)).flatMap((name): Limit[] => {
    const throttle = throttles.get(name)
    // The limits of each value are kept with the turns.
    return throttle ? [[name, throttle.isPerTurn ? {} : throttle]] : []
  })
}

/** The running jobs that count towards a limit. */
function slotsOf(world: MemoryWorld, name: string, timeoutMs = Infinity): MemoryJob[] {
  const nowMs = world.nowMs()
  return lanesOf(world, name).flatMap((lane) =>
    [...lane.busy.keys()].flatMap((id) => {
      const job = lane.job(id, nowMs)
      return job && nowMs < (job.takenAtMs ?? 0) + timeoutMs ? [job] : []
    }),
  )
}

/** The lanes for which a limit holds. */
function lanesOf(world: MemoryWorld, limit: string): MemoryLane[] {
  return [...world.lanes].filter(({ lane }) => limitNames(world.names.parse(lane)).includes(limit))
}
