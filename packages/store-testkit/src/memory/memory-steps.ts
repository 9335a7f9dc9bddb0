import {
  SingleSteps,
  StoreError,
  toStoreError,
  type ClaimRequest,
  type LaneArrivals,
  type LaneOutcomes,
  type LaneSubmitted,
  type Lease,
  type NewJob,
  type Outcome,
  type StepReport,
  type Settled,
  type Step,
  type StepAnswer,
  type Submitted,
} from '@crossgear/core-scheduler'
import { claimJobs } from './jobs/claim.ts'
import { finishJob } from './jobs/finish.ts'
import { isLocked } from './jobs/dependencies.ts'
import { joinBatch } from './jobs/memory-batches.ts'
import { registerLane } from './lanes/registration.ts'
import { storeJob } from './jobs/store-job.ts'
import { takeReport } from './lanes/maintenance.ts'
import { uniqueKey } from './memory-job.ts'
import type { MemoryLane } from './memory-lane.ts'
import type { MemoryWorld, Run } from './memory-world.ts'

/** Steps of a node of a {@link MemoryWorld}. */
export class MemorySteps extends SingleSteps {
  readonly #node: string
  readonly #step: Run
  #tokens = 0

  constructor(node: string, step: Run) {
    super()
    this.#node = node
    this.#step = step
  }

  /** Runs all parts in one go. */
  step({ reports, outcomes, submissions, claims }: Step): Promise<StepAnswer> {
    return this.#step((world) => ({
      reports: reports.map((report) => this.#report(world, report)),
      outcomes: outcomes.map((lane) => this.#finish(world, lane)),
      submissions: this.#submit(world, submissions),
      claims: claims.map((request) => this.#claim(world, request)),
    }))
  }

  #report(world: MemoryWorld, report: StepReport): boolean {
    return takeReport(world, this.#node, world.lane(report.lane), report)
  }

  #submit(
    world: MemoryWorld,
    arrivals: readonly LaneArrivals[],
  ): readonly (LaneSubmitted | StoreError)[] {
    const numbers = arrivals.map(({ lane }) => numberOf(world, lane))
    const line = arrivals.flatMap(({ lane, jobs, places }, of) =>
      jobs.map((job, at) => ({ of, at, lane, job, place: places[at] ?? 0 })),
    )
    line.sort((one, other) => one.place - other.place)
    const results = arrivals.map((): Submitted[] => [])
    for (const { lane } of arrivals) world.lane(lane).begin(world.epoch)
    const hasIds = arrivals.map(({ lane, jobs }) => world.lane(lane).hasIds(jobs.length))
    for (const { of, at, lane, job } of line) {
      if (!hasIds[of] || typeof numbers[of] !== 'number') continue
      const result = submitJob(world, this.#node, world.lane(lane), job)
      const ofLane = results[of]
      if (ofLane) ofLane[at] = result
    }
    return arrivals.map(({ lane }, of) => {
      const laneNumber = numbers[of] ?? 0
      if (typeof laneNumber !== 'number') return laneNumber
      if (!hasIds[of]) return new StoreError('REFUSED', `uid:${lane} gives no ids`)
      return {
        results: results[of] ?? [],
        laneNumber,
        isPublished: true,
        isOpen: world.lane(lane).openness(world.nowMs()) !== undefined,
      }
    })
  }

  #claim(world: MemoryWorld, request: ClaimRequest): readonly Lease[] {
    return claimJobs(world, request, () => {
      this.#tokens += 1
      return `${this.#node}-${this.#tokens}`
    })
  }

  #finish(world: MemoryWorld, { lane, outcomes }: LaneOutcomes): readonly Settled[] {
    const settled: Settled[] = []
    const finish = (outcome: Outcome, at: number): void => {
      settled[at] = finishJob(world, this.#node, world.lane(lane), outcome)
    }
    // In reverse: each goes before those of its level, and the first must be first again.
    const isRequeueFront = ({ kind }: Outcome): boolean => kind === 'requeueFront'
    for (const [at, outcome] of outcomes.entries())
      if (!isRequeueFront(outcome)) finish(outcome, at)
    for (let at = outcomes.length - 1; at >= 0; at -= 1) {
      const outcome = outcomes[at]
      if (outcome && isRequeueFront(outcome)) finish(outcome, at)
    }
    return settled
  }
}

/** A lane that is not registered is registered with its first job. */
function numberOf(world: MemoryWorld, lane: string): number | StoreError {
  try {
    return registerLane(world, lane, world.graceMs)
  } catch (error) {
    return toStoreError(error)
  }
}

/** Stores one job for a node, or joins an existing one. */
function submitJob(world: MemoryWorld, node: string, lane: MemoryLane, job: NewJob): Submitted {
  const joined = join(world, node, lane, job)
  if (joined !== undefined) return { kind: 'joined', id: joined }
  const { tick } = job
  if (tick && (lane.ticks.get(tick.entry) ?? 0) >= tick.atMs) return { kind: 'ticked' }
  if (job.lock && isLocked(world, lane, job.lock.key)) return { kind: 'locked' }
  const pushed = pushedBefore(world, lane, job)
  if (pushed !== undefined) return { kind: 'joined', id: pushed }
  if (lane.isFull(job.level)) return { kind: 'full' }
  const refusal = refusedByRoute(world, lane, job)
  if (refusal) return refusal
  if (job.batch !== undefined && !joinBatch(world, job.batch)) return { kind: 'unbatched' }
  if (tick) lane.ticks.set(tick.entry, tick.atMs)
  const { id, terms } = storeJob(world, lane, job, node)
  const sharesTurn = (terms?.turn ?? '') !== (job.turn ?? '')
  return { kind: 'created', id, ...(sharesTurn && { sharesTurn }) }
}

/** The answer to a job that its route refuses now. */
function refusedByRoute(
  world: MemoryWorld,
  lane: MemoryLane,
  { admission, dueAtMs = 0 }: NewJob,
): Submitted | undefined {
  if (!admission || dueAtMs > world.nowMs()) return undefined
  const { needsWorker, maxWaiting, lanes = [] } = admission
  const isAttended = !needsWorker || lane.isAttended(world.nowMs(), world.isAutoOpen)
  if (!isAttended) return { kind: 'unattended' }
  if (maxWaiting === undefined) return undefined
  const waiting = lanes.reduce((sum, other) => sum + world.lane(other).queued, lane.queued)
  return waiting >= maxWaiting ? { kind: 'full' } : undefined
}

/** The queued or running job that came by the same push. */
function pushedBefore(
  world: MemoryWorld,
  lane: MemoryLane,
  { jid, envelope }: NewJob,
): number | undefined {
  const id = jid === undefined ? undefined : lane.jids.get(jid)
  const job = id === undefined ? undefined : lane.job(id, world.nowMs())
  if (!job || (job.status !== 'idle' && job.status !== 'busy')) return undefined
  return envelope !== undefined && job.terms?.envelope === envelope ? id : undefined
}

function join(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  { unique, foreground }: NewJob,
): number | undefined {
  const id = unique && lane.unique.get(uniqueKey(unique))
  const job = id === undefined ? undefined : lane.job(id, world.nowMs())
  if (!job || (job.status !== 'idle' && job.status !== 'busy')) return undefined
  if (foreground) job.waiting.push(node)
  else job.foreground = false
  return id
}
