import {
  functionLimit,
  limitedFunction,
  limitNames,
  type ClaimRequest,
  type LaneGroup,
  type LaneNames,
  type Throttle,
} from '@crossgear/core-scheduler'
import type { ScriptArgument } from '../scripts/script-name.ts'

/**
 * A limit as the scripts take it: concurrency, rate, per (ms), timeout (ms), jobs of a worker, the
 * worker.
 */
export function limitArguments(throttle: Throttle = {}, worker = ''): ScriptArgument[] {
  const { concurrency = 0, rate, timeoutMs = 0, isPerTurn = false } = throttle
  const perWorker = isPerTurn ? -1 : (throttle.perWorker ?? 0)
  return [concurrency, rate?.jobs ?? 0, rate?.perMs ?? 0, timeoutMs, perWorker, worker]
}

/** The limits of each value in a lane where jobs take turns, as `lua/lib/turns.lua` has them; empty for another lane. */
export type TurnLimits = (lane: string) => string

export function turnLimitsOf(lane: string, names: LaneNames, throttles?: Throttles): string {
  if (!throttles || throttles.size === 0) return ''
  const {
    concurrency = 0,
    rate,
    isPerTurn,
  } = throttles.get(functionLimit(names.parse(lane).fn)) ?? {}
  return isPerTurn ? `${concurrency} ${rate?.jobs ?? 0} ${rate?.perMs ?? 0}` : ''
}

/** Limits that a slot of a cluster keeps itself: jobs of a lane take turns there. */
export function turnsOf(throttles: Throttles | undefined): Throttles {
  return new Map([...(throttles ?? [])].filter(([, { isPerTurn }]) => isPerTurn))
}

/** Limits of queues and functions, by name. */
export type Throttles = ReadonlyMap<string, Throttle>

/** True for a group whose lanes the script finds in the hint index of its queue. */
const isByHint = ({ queue, lanes }: LaneGroup): boolean => queue !== undefined && lanes.length > 1

/**
 * True if a claim prefetches nothing, since a limit holds for lanes that it names. From a queue's index jobs of functions
 * without a limit are prefetched.
 */
export function isLimited(
  groups: readonly LaneGroup[],
  names: LaneNames,
  throttles: Throttles | undefined,
): boolean {
  if (!throttles || throttles.size === 0) return false
  return groups.some((group) =>
    isByHint(group)
      ? throttles.has(group.queue ?? '')
      : group.lanes.some((lane) =>
          limitNames(names.parse(lane)).some((name) => throttles.has(name)),
        ),
  )
}

/** The claim script's arguments about limits, for the queues and functions of the groups only. */
export function throttleArguments(
  { groups, worker }: Pick<ClaimRequest, 'groups' | 'worker'>,
  names: LaneNames,
  throttles: Throttles | undefined,
): ScriptArgument[] {
  if (!throttles || throttles.size === 0) return [0]
  const lanesOf = new Map<string, Set<string>>()
  const add = (name: string, lane?: string): void => {
    const known = lanesOf.get(name) ?? new Set()
    lanesOf.set(name, lane === undefined ? known : known.add(lane))
  }
  for (const group of groups) {
    if (group.queue !== undefined && isByHint(group)) {
      if (throttles.has(group.queue)) add(group.queue)
      for (const [name, lane] of limitedLanes(throttles, names, group.queue)) add(name, lane)
      continue
    }
    for (const lane of group.lanes) {
      for (const name of limitNames(names.parse(lane))) if (throttles.has(name)) add(name, lane)
    }
  }
  const args: ScriptArgument[] = [lanesOf.size]
  for (const [name, lanes] of lanesOf) {
    args.push(name, ...limitArguments(throttles.get(name), worker), lanes.size, ...lanes)
  }
  return args
}

/** The lanes that functions with a limit may have in a queue: the script finds there also those that this node does not know. */
function* limitedLanes(
  throttles: Throttles,
  names: LaneNames,
  queue: string,
): Iterable<readonly [name: string, lane: string]> {
  for (const name of throttles.keys()) {
    const fn = limitedFunction(name)
    if (fn === undefined) continue
    yield [name, `${fn}@${queue}`]
    yield [name, names.lane(fn, queue)]
  }
}
