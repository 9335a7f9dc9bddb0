import type { ClaimRequest, LaneNames, Throttle } from '@crossgear/core-scheduler'
import type { ScriptArgument } from '../scripts/script-name.ts'

/**
 * A limit as the scripts take it: concurrency, rate, per (ms), timeout (ms), jobs of a worker, the
 * worker.
 */
export function limitArguments(throttle: Throttle = {}, worker = ''): ScriptArgument[] {
  const { concurrency = 0, rate, timeoutMs = 0, perWorker = 0 } = throttle
  return [concurrency, rate?.jobs ?? 0, rate?.perMs ?? 0, timeoutMs, perWorker, worker]
}

/** The claim script's arguments about limits, for the queues of the groups only. */
export function throttleArguments(
  { groups, worker }: Pick<ClaimRequest, 'groups' | 'worker'>,
  names: LaneNames,
  throttles: ReadonlyMap<string, Throttle> | undefined,
): ScriptArgument[] {
  if (!throttles || throttles.size === 0) return [0]
  const lanesOf = new Map<string, Set<string>>()
  for (const group of groups) {
    // The script finds the lanes of a queue in its index: one alone has to be named.
    const lanes = group.queue === undefined ? group.lanes : group.lanes.slice(0, 1)
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
    args.push(queue, ...limitArguments(throttles.get(queue), worker), lanes.size, ...lanes)
  }
  return args
}
