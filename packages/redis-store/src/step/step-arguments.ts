import type {
  ClaimRequest,
  LaneArrivals,
  LaneNames,
  LaneOutcomes,
  LeasedJob,
  Outcome,
  StepReport,
  Throttle,
} from '@crossgear/core-scheduler'
import type { ScriptArgument } from '../scripts/script-name.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import { addArrivals, type InputsOutside } from './submit-arguments.ts'
import { throttleArguments } from './throttle-arguments.ts'

/** Extra values of submissions in a cluster. */
export interface ClusterArrival {
  /** Notes of the jobs' joins to batches, by submission and batch. */
  readonly notes?: ReadonlyMap<LaneArrivals, ReadonlyMap<string, string> | undefined>
  /** Time of arrival, microseconds since 1970; absent: now, by the server's clock. */
  readonly atUs?: number
}

/** The kind of claim, as lua/step.lua names it. */
function wayOf({ by, access = 'auto', byLevel = false }: ClaimRequest): string {
  if (by === 'named') return byLevel ? 'l' : 'n'
  return { any: 'f', opened: 'o', auto: 'a' }[access]
}

export function addReports(args: ScriptArgument[], reports: readonly StepReport[]): void {
  args.push(reports.length)
  for (const report of reports) {
    args.push(report.lane, report.kind, String(report.id), report.token)
    if (report.kind === 'status') args.push(report.dividend, report.divisor)
    else if (report.kind === 'lease')
      args.push(report.heldMs === Infinity ? 'inf' : Math.round(report.heldMs), '')
    else args.push(report.data, '')
  }
}

export function addOutcomes(
  args: ScriptArgument[],
  lanes: readonly LaneOutcomes[],
  link: RedisContext,
): void {
  args.push(lanes.length)
  for (const { lane, outcomes } of lanes) {
    args.push(lane, link.queueOf(lane), outcomes.length)
    for (const outcome of outcomes) addOutcome(args, outcome)
  }
}

function addOutcome(args: ScriptArgument[], outcome: Outcome): void {
  args.push(outcome.kind, String(outcome.id), outcome.token)
  switch (outcome.kind) {
    case 'complete':
      args.push(outcome.withheld ? '' : outcome.output, outcome.withheld ? '1' : '')
      addEnd(args, outcome.job)
      return
    case 'fail':
      args.push(outcome.message, outcome.isException ? '1' : '', outcome.failure ?? '')
      break
    case 'retry':
      args.push(outcome.message, outcome.delayMs, outcome.failure)
      break
    case 'dead':
      args.push(outcome.message, '', outcome.failure)
      break
    case 'requeue':
      if (outcome.lost) args.push('1', outcome.maxLosses, outcome.failure)
      else args.push('', 0, '')
      break
    case 'requeueFront':
      args.push('', '', '')
  }
  args.push('', '')
}

/**
 * The unique id and jid that the end of a job frees, where the node knows that it touches nothing else. Without them Redis
 * runs 1.19 times the instructions for 16 outcomes of Faktory, 1.09 times for Gearman.
 */
function addEnd(args: ScriptArgument[], job: LeasedJob | undefined): void {
  const isKnown = job?.hasDependencies === false && job.door !== 'native' && !job.retentionSeconds
  if (isKnown) args.push('1', job.unique ?? '', job.jid ?? '')
  else args.push('', '', '')
}

export function addSubmissions(
  args: ScriptArgument[],
  arrivals: readonly LaneArrivals[],
  link: RedisContext,
  { notes, atUs }: ClusterArrival,
  outside: InputsOutside,
): void {
  args.push(atUs ?? '', arrivals.length)
  for (const lane of arrivals) addArrivals(args, lane, link, notes?.get(lane), outside)
}

/** Limits of a claim; without throttles it ignores the limits of its queues. */
export interface ClaimLimits {
  readonly names: LaneNames
  readonly throttles: ReadonlyMap<string, Throttle> | undefined
}

const nothingPaused: ReadonlySet<string> = new Set()

/** Returns how many jobs the claim may bring. */
export function addClaim(
  args: ScriptArgument[],
  request: ClaimRequest,
  { names, throttles }: ClaimLimits,
): number {
  const { groups, ahead = 0, paused = nothingPaused } = request
  const limits = throttleArguments(request, names, throttles)
  const held = limits[0] === 0 ? ahead : 0
  const max = request.max + held
  args.push(wayOf(request), max, held, groups.length)
  for (const { lanes, queue, leaseMs } of groups) {
    // The hint index has the lanes of a queue; two names say that there are several.
    const named = queue === undefined ? lanes : lanes.slice(0, 2)
    args.push(leaseMs ?? '', queue ?? '', named.length, ...named)
  }
  args.push(...limits, paused.size, ...paused)
  return max
}

/** The lanes that claims name; undefined if one asks for those of a queue. */
export function lanesNamedBy(claims: readonly ClaimRequest[]): ReadonlySet<string> | undefined {
  const named = new Set<string>()
  for (const { groups } of claims) {
    for (const { lanes, queue } of groups) {
      if (queue !== undefined) return undefined
      for (const lane of lanes) named.add(lane)
    }
  }
  return named
}
