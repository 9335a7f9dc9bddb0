import type { NewJob, Outcome, StepReport, Lease, Settled, Submitted } from '../model/job.ts'
import type { ClaimRequest } from './claim-ports.ts'
import { StoreError } from '../model/store-errors.ts'

/** Jobs of one lane that came together with others'. */
export interface LaneArrivals {
  readonly lane: string
  readonly jobs: readonly NewJob[]
  /** Place of each job among all that came, rising. */
  readonly places: readonly number[]
}

/** Outcomes of one lane, at most one per job. */
export interface LaneOutcomes {
  readonly lane: string
  readonly outcomes: readonly Outcome[]
}

/** The results of a lane's arrivals. */
export interface LaneSubmitted {
  readonly results: readonly Submitted[]
  /** The lane's number: a lane that was not registered is so from now on. Absent if no job was stored. */
  readonly laneNumber?: number
  /** True if the jobs were stored after the claims of their step. False. */
  readonly isRepeated?: boolean
  /** False if this node's listeners get no events about these jobs. */
  readonly isPublished: boolean
  /** True if consumers of the lane's queue may take them. */
  readonly isOpen: boolean
}

/**
 * All that a node sends to the store at once. The parts take effect in this order: a claim finds
 * jobs submitted with it, and a job's last reports precede its outcome.
 */
export interface Step {
  readonly reports: readonly StepReport[]
  readonly outcomes: readonly LaneOutcomes[]
  /**
   * Jobs line up in the order of their places. If one step holds all lanes, nobody sees a part of
   * it.
   */
  readonly submissions: readonly LaneArrivals[]
  readonly claims: readonly ClaimRequest[]
}

/** Results for each member of a step's parts. A refused lane does not affect the others. */
export interface StepAnswer {
  /** False for a report whose lease is gone. */
  readonly reports: readonly boolean[]
  readonly outcomes: readonly (readonly Settled[] | StoreError)[]
  readonly submissions: readonly (LaneSubmitted | StoreError)[]
  readonly claims: readonly (readonly Lease[] | StoreError)[]
}

/** The part of the store that jobs go through. */
export interface StepStore {
  step(step: Step): Promise<StepAnswer>
}

/** An empty step, to be filled. */
export const noStep: Step = { reports: [], outcomes: [], submissions: [], claims: [] }

/** Steps with one part, for rare cases and tests. Refusals are thrown. */
export abstract class SingleSteps implements StepStore {
  abstract step(step: Step): Promise<StepAnswer>

  async submit(lane: string, jobs: readonly NewJob[]): Promise<readonly Submitted[]> {
    const arrivals = { lane, jobs, places: [...jobs.keys()] }
    const { submissions } = await this.step({ ...noStep, submissions: [arrivals] })
    return soleAnswer(submissions).results
  }

  async claim(request: ClaimRequest): Promise<readonly Lease[]> {
    return soleAnswer((await this.step({ ...noStep, claims: [request] })).claims)
  }

  async finish(lane: string, outcomes: readonly Outcome[]): Promise<readonly Settled[]> {
    return soleAnswer((await this.step({ ...noStep, outcomes: [{ lane, outcomes }] })).outcomes)
  }

  async report(reports: readonly StepReport[]): Promise<readonly boolean[]> {
    return (await this.step({ ...noStep, reports })).reports
  }
}

/** The answer of a step with one member. Refusals are thrown. */
export function soleAnswer<Answer>(answers: readonly (Answer | StoreError)[]): Answer {
  const [answer] = answers
  if (answer === undefined) throw new StoreError('REFUSED', 'the store did not answer')
  if (answer instanceof StoreError) throw answer
  return answer
}
