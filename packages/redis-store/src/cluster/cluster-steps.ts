import {
  StoreError,
  type ClaimRequest,
  type LaneArrivals,
  type LaneOutcomes,
  type LaneSubmitted,
  type NewJob,
  type StepReport,
  type Lease,
  type Settled,
  type Step,
  type StepAnswer,
  type StepStore,
  type Submitted,
  type Throttle,
} from '@crossgear/core-scheduler'
import type { ClockOffset } from '../connection/clock-offset.ts'
import { storeErrorOf } from '../connection/errors.ts'
import { JidIndex } from '../jobs/jid-index.ts'
import type { JobSteps } from '../step/job-steps.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import { HintUpdater } from './hint-updater.ts'
import { BatchJoins, type Join } from './batch-joins.ts'
import { ClusterClaim } from './cluster-claim.ts'
import { ClusterThrottles } from './cluster-throttles.ts'
import { SlotSteps, type SlotArrivals } from './slot-steps.ts'
import { BatchOutbox } from './batch-outbox.ts'
import { registerInCluster } from '../lanes/registration.ts'
import { UnregisteredLane } from '../step/step-reply.ts'

const noJoins: ReadonlyMap<string, Join> = new Map()

/**
 * Steps that touch several slots of a cluster: each slot's part is one atomic step; work in other
 * slots comes before or after it.
 */
export class ClusterSteps implements StepStore {
  readonly #context: RedisContext
  readonly #slots: SlotSteps
  readonly #outbox: BatchOutbox
  readonly #joins: BatchJoins
  readonly #hints: HintUpdater
  readonly #throttles: ClusterThrottles
  readonly #clock: ClockOffset
  /** Later than every time of arrival so far, microseconds. */
  #nextUs = 0

  constructor(
    context: RedisContext,
    jobs: JobSteps,
    clock: ClockOffset,
    throttles: ReadonlyMap<string, Throttle>,
  ) {
    this.#context = context
    this.#slots = new SlotSteps(jobs)
    this.#clock = clock
    this.#outbox = new BatchOutbox(context, new JidIndex(context))
    this.#joins = new BatchJoins(context)
    this.#hints = new HintUpdater(context, this.#outbox)
    this.#throttles = new ClusterThrottles(context, throttles)
    context.beforehand(() => this.#slots.flush())
    context.afterwards((name, args) => this.#hints.after(name, args))
  }

  /** Replaces the limits. */
  configure(throttles: ReadonlyMap<string, Throttle>): void {
    this.#throttles.configure(throttles)
  }

  /** Reports, outcomes, submissions and claims of the lanes of one slot take effect in this order. */
  async step({ reports, outcomes, submissions, claims }: Step): Promise<StepAnswer> {
    const [reported, ended, submitted, claimed] = await Promise.all([
      this.#report(reports),
      Promise.all(outcomes.map((lane) => this.#finish(lane).catch(storeErrorOf))),
      this.#submitLanes(submissions),
      Promise.all(claims.map((claim) => this.#claim(claim).catch(storeErrorOf))),
    ])
    return { reports: reported, outcomes: ended, submissions: submitted, claims: claimed }
  }

  #report(reports: readonly StepReport[]): Promise<readonly boolean[]> {
    return Promise.all(reports.map((report) => this.#slots.report(report)))
  }

  /** All lanes have the same time of arrival, which makes them one line. */
  #submitLanes(
    arrivals: readonly LaneArrivals[],
  ): Promise<readonly (LaneSubmitted | StoreError)[]> {
    const atUs = this.#arrivedUs(arrivals.reduce((sum, { jobs }) => sum + jobs.length, 0))
    return Promise.all(arrivals.map((lane) => this.#submit(lane, atUs).catch(storeErrorOf)))
  }

  /** A time of arrival for the first of these jobs, later than any before. */
  #arrivedUs(jobs: number): number {
    const atUs = Math.max(Math.round(this.#clock.nowMs() * 1000), this.#nextUs)
    this.#nextUs = atUs + jobs
    return atUs
  }

  async #submit({ lane, jobs, places }: LaneArrivals, atUs: number): Promise<LaneSubmitted> {
    // No wait without a batch: the jobs go with what else there is for the slot.
    const isJoining = jobs.some(({ batch }) => batch !== undefined)
    const joined = isJoining ? await this.#joinBatches(lane, jobs) : noJoins
    const isKnown = ({ batch }: NewJob): boolean => batch === undefined || joined.has(batch)
    const taken = jobs.filter(isKnown)
    const notes = new Map([...joined].map(([bid, { note }]) => [bid, note]))
    const arrivals = {
      lane,
      jobs: taken,
      places: places.filter((_place, at) => jobs[at] && isKnown(jobs[at])),
    }
    const stored =
      taken.length > 0
        ? await this.#store({ arrivals, notes, atUs })
        : { results: [], isPublished: true, isOpen: true }
    if (taken.length > 0) await this.#hints.follow(lane, false)
    const { results: each } = stored
    const left = countByBatch(taken.filter((_job, at) => each[at]?.kind !== 'created'))
    await this.#context.ignoreUnavailable(async () => {
      for (const [bid, join] of joined) await this.#joins.settle(join, left.get(bid) ?? 0)
    })
    const values = each.values()
    const results = jobs.map((job): Submitted =>
      isKnown(job) ? (values.next().value ?? { kind: 'full' }) : { kind: 'unbatched' },
    )
    return { ...stored, results }
  }

  /** A lane that is not registered, or was dropped a moment ago, is registered first. */
  async #store(submission: SlotArrivals): Promise<LaneSubmitted> {
    for (let isRepeated = false; ; isRepeated = true) {
      try {
        const stored = await this.#slots.submit(submission)
        return isRepeated ? { ...stored, isRepeated } : stored
      } catch (error) {
        if (!(error instanceof UnregisteredLane)) throw error
        await registerInCluster(this.#context, submission.arrivals.lane)
      }
    }
  }

  #claim(request: ClaimRequest): Promise<readonly Lease[]> {
    const parts = {
      context: this.#context,
      slots: this.#slots,
      hints: this.#hints,
      throttles: this.#throttles,
    }
    return new ClusterClaim(parts, request).run()
  }

  async #finish(lane: LaneOutcomes): Promise<readonly Settled[]> {
    const { outcomes } = lane
    const settled = await this.#slots.finish(lane)
    const isBack = outcomes.some(({ kind }) => kind === 'requeue' || kind === 'requeueFront')
    const putsBack = isBack || this.#throttles.hasTurns(lane.lane)
    await this.#hints.follow(lane.lane, putsBack)
    const ended = outcomes.filter((_outcome, at) => settled[at] !== 'unknown')
    for (const name of this.#throttles.of(lane.lane)) {
      await this.#context.ignoreUnavailable(() => this.#throttles.free(name, ended))
    }
    return settled
  }

  /** Completes work of nodes that died. */
  async heal(): Promise<void> {
    await this.#joins.settleOverdue()
    await this.#outbox.pushCallbacks()
  }

  /** Joins the jobs to their batches; returns the joins of those that are known. */
  async #joinBatches(lane: string, jobs: readonly NewJob[]): Promise<ReadonlyMap<string, Join>> {
    const joined = new Map<string, Join>()
    for (const [bid, many] of countByBatch(jobs)) {
      const join = await this.#joins.join(bid, lane, many)
      if (join) joined.set(bid, join)
    }
    return joined
  }
}

function countByBatch(jobs: readonly NewJob[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { batch } of jobs) {
    if (batch !== undefined) counts.set(batch, (counts.get(batch) ?? 0) + 1)
  }
  return counts
}
