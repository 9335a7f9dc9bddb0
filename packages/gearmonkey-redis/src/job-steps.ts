import {
  holderOf,
  StoreError,
  type HeldRef,
  type ClaimRequest,
  type JobRef,
  type LaneArrivals,
  type LeasedJob,
  type NewJob,
  type Outcome,
  type Report,
  type Reservation,
  type Settled,
  type Submitted,
  type Throttle,
} from '@crossgear/core-scheduler'
import { chunks } from './chunks.ts'
import type { ClockOffset } from './clock-offset.ts'
import { isUnheard } from './errors.ts'
import { reservationsOf, type ReservedReply } from './job-hash.ts'
import { JobReads } from './job-reads.ts'
import { unpack } from './packed.ts'
import type { ScriptArgument } from './scripts.ts'
import type { StoreLink } from './store-link.ts'
import { addArrivals, submittedOf } from './submit-arguments.ts'
import { throttleArguments } from './throttle-arguments.ts'
import { UnheardClaims } from './unheard-claims.ts'

export interface JobStepOptions {
  readonly deadPerLane: number
  readonly deadSeconds: number
  readonly reserveForSeconds: number
  readonly throttles?: ReadonlyMap<string, Throttle>
}

/** Unique ids times lanes that one call looks up, under a millisecond of the server's time. */
const lookupsPerCall = 1_000

/** The asker, as lua/claim.lua names it. */
function wayOf({
  by,
  access = 'auto',
  byLevel = false,
}: Pick<ClaimRequest, 'by' | 'access' | 'byLevel'>): string {
  if (by === 'named') return byLevel ? 'l' : 'n'
  return { any: 'f', opened: 'o', auto: 'a' }[access]
}

const settledOf: readonly Settled[] = ['unknown', 'done', 'released', 'dropped']

/** Values that a submission in a cluster brings beside its jobs. */
interface ClusterArrival {
  /** Notes by which the jobs have joined their batches. */
  readonly notes?: ReadonlyMap<string, string>
  /** When the jobs came, microseconds since 1970; absent: now, by the server's clock. */
  readonly atUs?: number
}

type PackedReply = readonly [packed: Buffer, ...beside: Buffer[]]

/** As lua/claim.lua says. */
type ClaimReply = readonly [
  jobs: ReservedReply,
  throttled: readonly (Buffer | number)[],
  left: number,
]

/** The steps of the store port that jobs and their outcomes go through. */
export class RedisJobs {
  readonly #link: StoreLink
  readonly #clock: ClockOffset
  readonly #options: JobStepOptions
  readonly #reads: JobReads
  readonly #unheard = new UnheardClaims()
  #token = 0

  constructor(link: StoreLink, clock: ClockOffset, options: JobStepOptions) {
    this.#link = link
    this.#reads = new JobReads(link)
    this.#clock = clock
    this.#options = options
  }

  async submit(lane: string, jobs: readonly NewJob[]): Promise<readonly Submitted[]> {
    const [result] = await this.submitLanes([{ lane, jobs, places: [...jobs.keys()] }])
    if (result instanceof StoreError) throw result
    return result ?? []
  }

  /** Outside a cluster of any number of lanes, in a cluster of one. */
  async submitLanes(
    arrivals: readonly LaneArrivals[],
    { notes, atUs }: ClusterArrival = {},
  ): Promise<readonly (readonly Submitted[] | StoreError)[]> {
    const { run, keys, node } = this.#link
    const args: ScriptArgument[] = [node, atUs ?? '', arrivals.length]
    for (const lane of arrivals) addArrivals(args, lane, this.#link, notes)
    const reply = unpack((await run('submit', [keys.uid(arrivals[0]?.lane ?? '')], args)) as Buffer)
    return (reply as (Buffer | (number | Buffer)[])[]).map((answer) =>
      Array.isArray(answer)
        ? answer.map((result) => submittedOf(result))
        : new StoreError('REFUSED', String(answer)),
    )
  }

  async claim(request: ClaimRequest): Promise<readonly Reservation[]> {
    const { groups, ahead = 0 } = request
    const limits = throttleArguments(request, this.#link.names, this.#options.throttles)
    const max = request.max + (limits[0] === 0 ? ahead : 0)
    const first = groups.find(({ lanes }) => lanes.length > 0)?.lanes[0]
    if (first === undefined) return []
    const { keys, node } = this.#link
    const reserveMs = 1000 * this.#options.reserveForSeconds
    const args: ScriptArgument[] = [wayOf(request), node, this.#token, max, reserveMs]
    args.push(groups.length)
    for (const { lanes, queue, leaseMs } of groups) {
      // The hint index knows the lanes of a queue; that there are several is all it needs to be told.
      const named = queue === undefined ? lanes : lanes.slice(0, 2)
      args.push(leaseMs ?? '', queue ?? '', named.length, ...named)
    }
    args.push(...limits)
    const lost = groups.flatMap(({ lanes }) => lanes)
    const { jobs, throttled, left } = await this.#reserve(
      [keys.queue(first, 'normal')],
      args,
      lost,
      max,
    )
    if (left === 0) request.emptied?.()
    for (let at = 0; at + 1 < throttled.length; at += 2) {
      request.throttled?.(String(throttled[at]), Number(throttled[at + 1]))
    }
    return jobs
  }

  /** Takes from one lane, whatever its queue's limits are. */
  async claimFrom(
    lane: string,
    request: Pick<ClaimRequest, 'by' | 'access' | 'max'> & { readonly leaseMs?: number },
  ): Promise<readonly Reservation[]> {
    const { max, leaseMs = '' } = request
    const { keys, node } = this.#link
    const reserveMs = 1000 * this.#options.reserveForSeconds
    const args = [wayOf(request), node, this.#token, max, reserveMs, 1, leaseMs, '', 1]
    const keysOfCall = [keys.queue(lane, 'normal')]
    const { jobs } = await this.#reserve(keysOfCall, [...args, lane, 0], [lane], max)
    return jobs
  }

  async finish(lane: string, outcomes: readonly Outcome[]): Promise<readonly Settled[]> {
    const { deadPerLane, deadSeconds } = this.#options
    const { run, keys, node } = this.#link
    const args: ScriptArgument[] = [lane, node, this.#link.queueOf(lane), deadPerLane, deadSeconds]
    args.push(outcomes.length)
    for (const outcome of outcomes) {
      addOutcome(args, outcome)
    }
    const digits = String(await run('finish', [keys.busy(lane)], args))
    return Array.from(digits, (digit) => settledOf[Number(digit)] ?? 'unknown')
  }

  async report(lane: string, reports: readonly Report[]): Promise<readonly boolean[]> {
    const { run, keys, node } = this.#link
    const args: ScriptArgument[] = [lane, node, reports.length]
    for (const report of reports) {
      args.push(report.kind, String(report.id), report.token)
      if (report.kind === 'status') args.push(report.dividend, report.divisor)
      else args.push(report.data, '')
    }
    const digits = String(await run('report', [keys.busy(lane)], args))
    return Array.from(digits, (digit) => digit === '1')
  }

  async abandon(lane: string, ids: readonly number[]): Promise<void> {
    const { run, keys, node } = this.#link
    await run('abandon', [keys.busy(lane)], [lane, node, ...ids])
  }

  async expired(lanes: readonly string[], max: number): Promise<readonly LeasedJob[]> {
    const { run, keys, perLanesThere } = this.#link
    const found = await perLanesThere(lanes, async (some, first) =>
      heldRefsOf((await run('expired', [keys.busy(first)], [max, ...some])) as Buffer[]),
    )
    const leased: LeasedJob[] = []
    for (const [lane, tokens] of tokensByLane(found)) {
      for (const job of await this.#reads.look(lane, [...tokens.keys()])) {
        // Another node may have ended it since.
        if (job?.token === undefined || job.token !== tokens.get(job.id)) continue
        leased.push({ ...job, token: job.token, heldBy: holderOf(job.token) })
      }
    }
    return leased
  }

  async held(lanes: readonly string[]): Promise<readonly HeldRef[]> {
    const { keys, eachLane, perLanesThere } = this.#link
    return perLanesThere(lanes, async (some) => {
      const sizes = await eachLane(some, (commands, lane) => commands.zcard(keys.busy(lane)))
      const busy = some.filter((_lane, at) => Number(sizes[at]) > 0)
      const found = await Promise.all(busy.map((lane) => this.#given(lane, 0, this.#token)))
      return found.flat()
    })
  }

  /** Jobs of the lanes with these unique ids, of each what was found. In pieces that let everything else pass. */
  async findUniques(
    uniques: readonly Uint8Array[],
    lanes: readonly string[],
  ): Promise<readonly (readonly JobRef[])[]> {
    const { run, keys, perLanes } = this.#link
    const found = uniques.map((): JobRef[] => [])
    const wanted = uniques.map((unique) => Buffer.from(unique))
    const lanesPerCall = Math.max(1, Math.floor(lookupsPerCall / wanted.length))
    for (const piece of chunks(lanes, lanesPerCall)) {
      const replies = await perLanes(piece, async (some, first) => {
        const args = [wanted.length, ...wanted, ...some]
        const reply = await run('find-uniques', [keys.unique(first)], args)
        return [...chunks(reply as (Buffer | number)[], 3)]
      })
      for (const [index, lane, id] of replies) {
        found[Number(index)]?.push({ lane: String(lane), id: Number(String(id)) })
      }
    }
    return found
  }

  /** Looks for reservations of claims whose answer was lost: no worker has heard of them. */
  async settleUnheard(): Promise<void> {
    await this.#unheard.settle((lane, first, end) => this.#putBack(lane, first, end))
  }

  async #reserve(
    keys: readonly string[],
    args: readonly ScriptArgument[],
    lanes: readonly string[],
    max: number,
  ): Promise<{
    readonly jobs: Reservation[]
    readonly throttled: ClaimReply[1]
    readonly left: number
  }> {
    const firstToken = this.#token
    this.#token += max
    try {
      const reply = await this.#link.run('claim', keys, args)
      const [packed, ...beside] = reply as PackedReply
      const [jobs, throttled, left] = unpack(packed) as ClaimReply
      return { jobs: reservationsOf(jobs, beside, this.#clock.nowMs()), throttled, left }
    } catch (error) {
      if (isUnheard(error)) this.#unheard.add(lanes, firstToken, max)
      throw error
    }
  }

  /** What no worker has heard of goes back to the front. */
  async #putBack(lane: string, first: number, end: number): Promise<void> {
    const found = await this.#given(lane, first, end)
    const returns = found.map((held) => ({ ...held, kind: 'return' as const }))
    if (returns.length > 0) await this.finish(lane, returns)
  }

  /** The reservations of this node whose tokens are of such numbers. */
  async #given(lane: string, first: number, end: number): Promise<HeldRef[]> {
    const { run, keys, node } = this.#link
    const found = (await run('given', [keys.busy(lane)], [lane, node, first, end])) as Buffer[]
    return [...chunks(found, 2)].map(([id, token]) => ({
      lane,
      id: Number(String(id)),
      token: String(token),
    }))
  }
}

function heldRefsOf(reply: readonly Buffer[]): HeldRef[] {
  return [...chunks(reply, 3)].map(([lane, id, token]) => ({
    lane: String(lane),
    id: Number(String(id)),
    token: String(token),
  }))
}

function tokensByLane(refs: readonly HeldRef[]): Map<string, Map<number, string>> {
  const lanes = new Map<string, Map<number, string>>()
  for (const { lane, id, token } of refs) {
    const tokens = lanes.get(lane) ?? new Map<number, string>()
    lanes.set(lane, tokens.set(id, token))
  }
  return lanes
}

function addOutcome(args: ScriptArgument[], outcome: Outcome): void {
  args.push(outcome.kind, String(outcome.id), outcome.token)
  switch (outcome.kind) {
    case 'complete':
      return void args.push(outcome.output, '', '')
    case 'fail':
      return void args.push(outcome.message, outcome.thrown ? '1' : '', outcome.failure ?? '')
    case 'retry':
      return void args.push(outcome.message, outcome.delayMs, outcome.failure)
    case 'dead':
      return void args.push(outcome.message, '', outcome.failure)
    case 'release':
      return void args.push(outcome.lost ? '1' : '', outcome.maxLosses, outcome.failure ?? '')
    case 'return':
      return void args.push('', '', '')
  }
}
