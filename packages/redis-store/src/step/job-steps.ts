import {
  holderOf,
  noStep,
  soleAnswer,
  StoreError,
  toStoreError,
  type ClaimRequest,
  type LaneSubmitted,
  type Lease,
  type Step,
  type StepAnswer,
  type Throttle,
} from '@crossgear/core-scheduler'
import type { ClockOffset } from '../connection/clock-offset.ts'
import { isFull, isUnanswered } from '../connection/errors.ts'
import { leasesOf, type LeasedReply, type Missing } from '../jobs/job-hash.ts'
import { JobReads } from '../jobs/job-reads.ts'
import { leasesByToken } from '../jobs/leases-by-token.ts'
import { KeptJobs } from './kept-jobs.ts'
import { unpack } from '../scripts/packed.ts'
import { turnLimitsOf, turnsOf, type Throttles, type TurnLimits } from './throttle-arguments.ts'
import type { ScriptArgument } from '../scripts/script-name.ts'
import {
  addClaim,
  addOutcomes,
  addReports,
  addSubmissions,
  lanesNamedBy,
  type ClusterArrival,
} from './step-arguments.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import {
  droppedJobs,
  outcomesOf,
  refusalOf,
  type ClaimReply,
  type PackedReply,
  type StepReply,
} from './step-reply.ts'
import { laneSubmittedOf, type InputsOutside } from './submit-arguments.ts'
import { LostClaims, numberOfToken } from './lost-claims.ts'

/** The digit of a report that the store took. */
const known = 0x31
/** The place of the store's epoch among the arguments of a step. */
const epochAt = 5
/** Lanes of a group for which a step says whether this node listens to them. */
const maxLanesNamed = 16

/** Subscribers of lanes. */
export interface Listeners {
  /** True if the server that runs the scripts knows all of them. */
  readonly knowsAll: () => boolean
  /** True if this node certainly is a subscriber of one. */
  readonly has: (lane: string) => boolean
}

export interface JobStepOptions {
  readonly deadPerLane: number
  readonly deadSeconds: number
  readonly reserveForSeconds: number
  readonly throttles?: ReadonlyMap<string, Throttle>
}

/** Settings of a step besides its parts. */
export interface StepOptions extends ClusterArrival {
  /** Ignores the limits of queues. */
  readonly unlimited?: boolean
}

/** Sends steps: outside a cluster for any lanes, in a cluster for those of one slot. */
export class JobSteps {
  readonly #link: RedisContext
  readonly #clock: ClockOffset
  readonly #options: JobStepOptions
  readonly #reads: JobReads
  readonly #listeners: Listeners
  readonly #lostClaims = new LostClaims()
  readonly #kept = new KeptJobs()
  #throttles: JobStepOptions['throttles']
  /** Limits that a cluster's slot keeps itself. */
  #turns: Throttles
  #token = 0

  constructor(
    link: RedisContext,
    clock: ClockOffset,
    options: JobStepOptions,
    listeners: Listeners,
  ) {
    this.#link = link
    this.#reads = new JobReads(link)
    this.#clock = clock
    this.#options = options
    this.#throttles = options.throttles
    this.#turns = turnsOf(options.throttles)
    this.#listeners = listeners
  }

  /** All tokens that were given out are below it. */
  get nextToken(): number {
    return this.#token
  }

  /** Replaces the limits. */
  configure(throttles: ReadonlyMap<string, Throttle>): void {
    this.#throttles = throttles
    this.#turns = turnsOf(throttles)
  }

  /** See {@link TurnLimits}. */
  readonly turnLimits: TurnLimits = (lane) => turnLimitsOf(lane, this.#link.names, this.#throttles)

  /** A step of any number of lanes; in a cluster of one slot. */
  async step(step: Step, ways: StepOptions = {}): Promise<StepAnswer> {
    const claims = step.claims.filter(({ groups }) => groups.some(({ lanes }) => lanes.length > 0))
    const firstToken = this.#token
    const outside: Uint8Array[] | undefined = this.#link.setsHashes ? [] : undefined
    const args = this.#arguments({ ...step, claims }, ways, outside)
    // Steps that are sent meanwhile take the tokens after these.
    const tokens = this.#token - firstToken
    let isDone = false
    try {
      const reply = await this.#send({ ...step, claims }, args, outside)
      if (reply === 'full') return await this.#withoutSubmissions(step, ways)
      isDone = true
      return await this.#answer(step, claims, reply, ways)
    } catch (error) {
      // The store has leased jobs, too, where its answer cannot be read.
      if (claims.length > 0 && (isDone || isUnanswered(error))) {
        const lanes = claims.flatMap(({ groups }) => groups.flatMap(({ lanes: some }) => some))
        this.#lostClaims.add(lanes, firstToken, tokens)
      }
      throw error
    }
  }

  #arguments(step: Step, ways: StepOptions, outside: InputsOutside): ScriptArgument[] {
    const { deadPerLane, deadSeconds, reserveForSeconds } = this.#options
    const { node, names } = this.#link
    const args: ScriptArgument[] = [node, 1000 * reserveForSeconds, deadPerLane, deadSeconds]
    args.push(this.#token, 0)
    const inputs = args.push(0) - 1
    args.push(this.#link.graceMs)
    addReports(args, step.reports)
    const throttles = ways.unlimited ? this.#turns : this.#throttles
    addOutcomes(args, step.outcomes, this.#link, throttles)
    addSubmissions(args, step.submissions, this.#link, ways, outside, throttles)
    args[inputs] = outside?.length ?? 0
    this.#addListening(args, step)
    const kept =
      step.claims.length > 0
        ? this.#kept.ranges(this.#clock.nowMs(), lanesNamedBy(step.claims))
        : []
    args.push(kept.length, ...kept)
    args.push(step.claims.length)
    for (const claim of step.claims) this.#token += addClaim(args, claim, { names, throttles })
    return args
  }

  /** Adds the lanes of the step that this node listens to. */
  #addListening(args: ScriptArgument[], { outcomes, submissions, claims }: Step): void {
    const { knowsAll, has } = this.#listeners
    const isKnown = knowsAll()
    args.push(isKnown ? 1 : 0)
    const own = new Set<string>()
    if (isKnown) {
      for (const { lane } of outcomes) if (has(lane)) own.add(lane)
      for (const { lane } of submissions) if (has(lane)) own.add(lane)
      for (const { groups } of claims) {
        for (const { lanes } of groups) {
          for (const lane of lanes.slice(0, maxLanesNamed)) if (has(lane)) own.add(lane)
        }
      }
    }
    args.push(own.size, ...own)
  }

  /** `full`: the server has no room for the jobs and has done nothing. */
  async #send(
    step: Step,
    args: ScriptArgument[],
    outside: readonly Uint8Array[] = [],
  ): Promise<PackedReply | 'full'> {
    const { run, keys, node, withEpoch } = this.#link
    const lane =
      step.submissions[0]?.lane ??
      step.outcomes[0]?.lane ??
      step.reports[0]?.lane ??
      step.claims[0]?.groups.find(({ lanes }) => lanes.length > 0)?.lanes[0] ??
      ''
    const isGrowing = step.submissions.length > 0
    const hashes = outside.map((value, at) => ({
      key: keys.input(node, at + 1),
      field: 'input',
      value,
    }))
    try {
      const name = isGrowing ? 'step' : 'step-free'
      const reply = await run(name, [keys.busy(lane)], withEpoch(args, epochAt), hashes)
      return Buffer.isBuffer(reply) ? [reply] : (reply as PackedReply)
    } catch (error) {
      const hasOthers = step.outcomes.length + step.reports.length + step.claims.length > 0
      if (isGrowing && hasOthers && isFull(error)) return 'full'
      throw error
    }
  }

  async #withoutSubmissions(step: Step, ways: StepOptions): Promise<StepAnswer> {
    const answer = await this.step({ ...step, submissions: [] }, ways)
    const refusal = new StoreError('REFUSED', 'OOM the store has no room for more jobs')
    return { ...answer, submissions: step.submissions.map(() => refusal) }
  }

  async #answer(
    step: Step,
    claims: readonly ClaimRequest[],
    [packed, ...outOfLine]: PackedReply,
    { unlimited = false }: StepOptions,
  ): Promise<StepAnswer> {
    const reply = unpack(packed) as StepReply
    const [arrivedUs, reports, outcomes, submissions] = reply
    const submitted = submissions.map((answer) =>
      Array.isArray(answer) ? laneSubmittedOf(answer) : refusalOf(answer),
    )
    for (const { lane, outcomes: some } of step.outcomes) {
      for (const { id, kind } of some) if (kind !== 'requeueFront') this.#kept.drop(lane, id)
    }
    this.#keep(step, submitted, arrivedUs)
    const claimed = await this.#claimed(claims, reply[4], outOfLine, unlimited)
    let next = 0
    return {
      reports: Array.from(reports, (digit) => digit === known),
      outcomes: outcomes.map((answer, at) => outcomesOf(answer, step.outcomes[at])),
      submissions: submitted,
      claims: step.claims.map((claim) => (claim === claims[next] ? (claimed[next++] ?? []) : [])),
    }
  }

  #keep(
    { submissions }: Step,
    submitted: readonly (LaneSubmitted | StoreError)[],
    arrivedUs: number,
  ): void {
    const nowMs = this.#clock.nowMs()
    for (const [at, { lane, jobs, places }] of submissions.entries()) {
      const answer = submitted[at]
      if (!answer || answer instanceof StoreError) continue
      for (const [index, result] of answer.results.entries()) {
        const job = jobs[index]
        if (result.kind !== 'created' || !job) continue
        this.#kept.add(lane, result.id, job, arrivedUs + (places[index] ?? 0), nowMs)
      }
    }
  }

  async #claimed(
    claims: readonly ClaimRequest[],
    replies: readonly (Buffer | ClaimReply)[],
    outOfLine: readonly Buffer[],
    unlimited: boolean,
  ): Promise<(readonly Lease[] | StoreError)[]> {
    const values = outOfLine.values()
    const found: (readonly Lease[] | StoreError)[] = []
    for (const [at, reply] of replies.entries()) {
      if (Buffer.isBuffer(reply)) {
        found.push(refusalOf(reply))
        continue
      }
      const [jobs, throttled, left, dropped = []] = reply
      if (left === 0) claims[at]?.emptied?.()
      for (let index = 0; index + 1 < throttled.length; index += 2) {
        claims[at]?.throttled?.(String(throttled[index]), Number(throttled[index + 1]))
      }
      for (const job of droppedJobs(dropped)) claims[at]?.dropped?.(job)
      const leased = this.#leased(jobs, values)
      const goesOn = left === 2 ? claims[at] : undefined
      found.push(await this.#taken(leased, goesOn, unlimited))
    }
    return found
  }

  /**
   * The jobs of one claim, and of what follows it. Where these cannot be read the claim is refused alone, and its jobs go back:
   * what else the step has done stands.
   */
  async #taken(
    leased: readonly (Lease | Missing)[],
    goesOn: ClaimRequest | undefined,
    unlimited: boolean,
  ): Promise<readonly Lease[] | StoreError> {
    try {
      const taken = await this.#read(leased)
      return goesOn ? await this.#goOn(goesOn, taken, unlimited) : taken
    } catch (error) {
      for (const job of leased) {
        const { lane, token } = 'missing' in job ? job.missing : job
        this.#lostClaims.add([lane], numberOfToken(token), 1)
      }
      return toStoreError(error)
    }
  }

  /** Continues a claim that met too many wrong hints, or jobs that nobody wants, for one call. */
  async #goOn(
    claim: ClaimRequest,
    taken: readonly Lease[],
    unlimited: boolean,
  ): Promise<readonly Lease[]> {
    const max = claim.max - taken.length
    if (max <= 0) return taken
    const claims = [{ ...claim, max, prefetch: 0 }]
    const answer = await this.step({ ...noStep, claims }, { unlimited })
    return [...taken, ...soleAnswer(answer.claims)]
  }

  #leased(reply: LeasedReply, outOfLine: Iterator<Buffer>): readonly (Lease | Missing)[] {
    const found = leasesOf(reply, outOfLine, this.#clock.nowMs(), this.#kept, this.#link.onForeign)
    for (const job of found) {
      const { lane, id } = 'missing' in job ? job.missing : job
      this.#kept.claimed(lane, id)
    }
    return found
  }

  /** Reads jobs that should be kept here and are not. */
  async #read(found: readonly (Lease | Missing)[]): Promise<readonly Lease[]> {
    const isWhole = (job: Lease | Missing): job is Lease => !('missing' in job)
    if (found.every(isWhole)) return found
    const leases: Lease[] = []
    for (const job of found) {
      if (isWhole(job)) leases.push(job)
      else {
        const { lane, id, token } = job.missing
        const [read] = await this.#reads.read(lane, [id])
        if (read?.token === token) leases.push({ ...read, token, heldBy: holderOf(token) })
      }
    }
    return leases
  }

  /** Looks for leases of claims whose answer was lost: no worker has received them. */
  async settleLost(): Promise<void> {
    await this.#lostClaims.settle((lane, first, end) => this.#putBack(lane, first, end))
  }

  /** Puts jobs that no worker has seen back to the front. */
  async #putBack(lane: string, first: number, end: number): Promise<void> {
    const found = await leasesByToken(this.#link, lane, first, end)
    const outcomes = found.map((held) => ({ ...held, kind: 'requeueFront' as const }))
    if (outcomes.length > 0) await this.step({ ...noStep, outcomes: [{ lane, outcomes }] })
  }
}
