import { maxLanes, tooManyLanes, totalsOf } from '@crossgear/core-scheduler'
import type { MemoryWorld } from '../memory-world.ts'

/** Registers a lane; returns its number. Throws where there are too many. */
export function registerLane(world: MemoryWorld, lane: string, graceMs: number): number {
  const { numbers } = world
  const known = numbers.get(lane)
  if (known !== undefined) return known
  if (numbers.size >= maxLanes) throw tooManyLanes()
  const number = world.nextLaneNumber()
  numbers.set(lane, number)
  const { fn } = world.names.parse(lane)
  if (fn !== lane) inheritClosed(world, fn, lane, graceMs)
  world.notifyAll((listener) => listener.laneAdded(lane, number))
  return number
}

/** Forgets a lane that holds nothing; its counters go on in those of all. Returns the number that it had, or 0. */
export function unregisterLane(world: MemoryWorld, lane: string): number {
  const number = world.numbers.get(lane) ?? 0
  const record = world.lane(lane)
  const { formerTotals } = world
  world.formerTotals = totalsOf((name) => formerTotals[name] + record.counters[name])
  record.forget()
  if (number === 0) return 0
  world.numbers.delete(lane)
  world.notifyAll((listener) => listener.laneDropped(lane, number))
  return number
}

/** A new lane is closed to consumers if its function's home lane is. */
function inheritClosed(world: MemoryWorld, fn: string, name: string, graceMs: number): void {
  const [home, lane] = [world.lane(fn), world.lane(name)]
  const untilMs = home.byName > 0 ? world.nowMs() + graceMs : home.closedUntilMs
  lane.closedUntilMs = Math.max(lane.closedUntilMs, untilMs)
  if (home.isOpen === false) lane.isOpen ??= false
}
