import {
  SingleSteps,
  type ClaimRequest,
  type LaneArrivals,
  type LaneOutcomes,
  type LaneSubmitted,
  type Lease,
  type Outcome,
  type StepReport,
  type Settled,
  type Step,
  type StepAnswer,
  type Submitted,
} from '@crossgear/core-scheduler'
import { claimJobs } from './jobs/claim.ts'
import { finishJob } from './jobs/finish.ts'
import { submitJob } from './jobs/submit.ts'
import { takeReport } from './lanes/maintenance.ts'
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

  #submit(world: MemoryWorld, arrivals: readonly LaneArrivals[]): LaneSubmitted[] {
    const line = arrivals.flatMap(({ lane, jobs, places }, of) =>
      jobs.map((job, at) => ({ of, at, lane, job, place: places[at] ?? 0 })),
    )
    line.sort((one, other) => one.place - other.place)
    const results = arrivals.map((): Submitted[] => [])
    for (const { of, at, lane, job } of line) {
      const result = submitJob(world, this.#node, world.lane(lane), job)
      const ofLane = results[of]
      if (ofLane) ofLane[at] = result
    }
    return arrivals.map(({ lane }, of) => ({
      results: results[of] ?? [],
      isPublished: true,
      isOpen: world.lane(lane).openness(world.nowMs()) !== undefined,
    }))
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
