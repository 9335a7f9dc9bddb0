import type { MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'

/** Notes when the first lease or dead job of a lane ends, unless an earlier time is noted. */
export function noteDeadline(world: MemoryWorld, lane: MemoryLane): void {
  const dead = lane.dead.map((id) => lane.job(id, world.nowMs())?.forgottenAtMs ?? Infinity)
  const atMs = Math.min(...lane.busy.values(), ...dead)
  const known = world.deadlines.get(lane.lane) ?? Infinity
  if (atMs < known) world.deadlines.set(lane.lane, atMs)
}
