import type { LaneGroup, LaneNames, Throttle } from '@crossgear/core-scheduler'
import type { ScriptArgument } from './scripts.ts'

/** What the claim script is told of limits: only of queues that the groups take from. */
export function throttleArguments(
  groups: readonly LaneGroup[],
  names: LaneNames,
  throttles: ReadonlyMap<string, Throttle> | undefined,
): ScriptArgument[] {
  if (!throttles || throttles.size === 0) return [0]
  const lanesOf = new Map<string, Set<string>>()
  for (const { lanes } of groups) {
    for (const lane of lanes) {
      const { queue } = names.parse(lane)
      if (!throttles.has(queue)) continue
      const known = lanesOf.get(queue)
      if (known) known.add(lane)
      else lanesOf.set(queue, new Set([lane]))
    }
  }
  const args: ScriptArgument[] = [lanesOf.size]
  for (const [queue, lanes] of lanesOf) {
    const { concurrency = 0, rate } = throttles.get(queue) ?? {}
    args.push(queue, concurrency, rate?.jobs ?? 0, rate?.perMs ?? 0, lanes.size, ...lanes)
  }
  return args
}
