import type { NewJob, Outcome, Report, Lease, Settled, Submitted } from '../model/job.ts'
import { StoreError, type ClaimRequest } from './ports.ts'

/** Jobs of one lane that came together with those of others. */
export interface LaneArrivals {
  readonly lane: string
  readonly jobs: readonly NewJob[]
  /** Of each job its place among all that came, rising. */
  readonly places: readonly number[]
}

/** Outcomes of one lane, each job's once. */
export interface LaneOutcomes {
  readonly lane: string
  readonly outcomes: readonly Outcome[]
}

/** The results of a lane's arrivals. */
export interface LaneSubmitted {
  readonly results: readonly Submitted[]
  /** False where the listeners of this node are told nothing of these jobs. */
  readonly isPublished: boolean
  /** True where consumers of the lane's queue may take them. */
  readonly isOpen: boolean
}

/**
 * All that a node has for the store at a time. The parts take effect in this order, each in its own: so a claim finds
 * what is submitted with it, and a job's last words precede its outcome.
 */
export interface Step {
  readonly reports: readonly Report[]
  readonly outcomes: readonly LaneOutcomes[]
  /**
   * The jobs stand in the lines of their queues in the order of their places. Where one step can hold all lanes,
   * nobody sees a part of them.
   */
  readonly submissions: readonly LaneArrivals[]
  readonly claims: readonly ClaimRequest[]
}

/** Of each member of a step's parts what became of it. A lane that is refused does not refuse the others. */
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

/** To be filled. */
export const noStep: Step = { reports: [], outcomes: [], submissions: [], claims: [] }

/** Steps of one part: for the seldom and for tests. What the store refuses is thrown. */
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

  async report(reports: readonly Report[]): Promise<readonly boolean[]> {
    return (await this.step({ ...noStep, reports })).reports
  }
}

/** The answer of a step with one member; what the store refuses is thrown. */
export function soleAnswer<Answer>(answers: readonly (Answer | StoreError)[]): Answer {
  const [answer] = answers
  if (answer === undefined) throw new StoreError('REFUSED', 'the store did not answer')
  if (answer instanceof StoreError) throw answer
  return answer
}
