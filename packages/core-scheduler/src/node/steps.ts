import type { Outcome, StepReport, Lease, Settled } from '../model/job.ts'
import type { ClaimRequest } from '../store/claim-ports.ts'
import type { Clock } from '../clock.ts'
import { StoreError, toStoreError } from '../model/store-errors.ts'
import type { Store } from '../store/store.ts'
import {
  noStep,
  soleAnswer,
  type LaneArrivals,
  type LaneOutcomes,
  type LaneSubmitted,
  type Step,
  type StepAnswer,
} from '../store/step-ports.ts'
import { maxBatchBytes, maxBatchItems } from './batch-queue.ts'
import { AnswerOrder } from './answer-order.ts'

/**
 * With this many items gathered a second step is sent while one is in progress; fewer wait for its answer. One job in
 * progress at each of 4 clients: 2,840 jobs/s, where 8 gives 2,570.
 */
const secondStepItems = 2
/** If the last step had at least this many items, the next one waits to grow: lone jobs go at once. */
const growsFrom = 4
/**
 * Growth per step. With 100 jobs in progress at each of 4 clients: 18,800 jobs/s at 80 us each,
 * where 1 gives 13,800 at 99 us.
 */
const growth = 2
/** Most items of a step and of one hand-over; further items go with the next step. */
const maxItems = maxBatchItems
const maxBytes = maxBatchBytes

interface Call<Answer> {
  readonly members: number
  readonly resolve: (answers: readonly Answer[]) => void
  readonly reject: (error: StoreError) => void
}

/** Members of one part of a step, and the callers that wait for the answers. */
class Part<Member, Answer> {
  readonly members: Member[] = []
  readonly #calls: Call<Answer>[] = []

  add(members: readonly Member[]): Promise<readonly Answer[]> {
    for (const member of members) this.members.push(member)
    return new Promise((resolve, reject) => {
      this.#calls.push({ members: members.length, resolve, reject })
    })
  }

  settle(answers: readonly Answer[]): void {
    let from = 0
    for (const { members, resolve } of this.#calls) {
      resolve(answers.slice(from, from + members))
      from += members
    }
  }

  fail(error: StoreError): void {
    for (const { reject } of this.#calls) reject(error)
  }
}

class Draft {
  readonly parts = {
    reports: new Part<StepReport, boolean>(),
    outcomes: new Part<LaneOutcomes, readonly Settled[] | StoreError>(),
    submissions: new Part<LaneArrivals, LaneSubmitted | StoreError>(),
    claims: new Part<ClaimRequest, readonly Lease[] | StoreError>(),
  }

  get step(): Step {
    const { reports, outcomes, submissions, claims } = this.parts
    return {
      reports: reports.members,
      outcomes: outcomes.members,
      submissions: submissions.members,
      claims: claims.members,
    }
  }

  get members(): number {
    const { reports, outcomes, submissions, claims } = this.step
    return reports.length + outcomes.length + submissions.length + claims.length
  }

  get isFull(): boolean {
    const { reports, outcomes, submissions, claims } = this.step
    let items = reports.length + claims.length
    let bytes = 0
    for (const report of reports) if ('data' in report) bytes += report.data.length
    for (const { outcomes: some } of outcomes) {
      items += some.length
      for (const outcome of some) if (outcome.kind === 'complete') bytes += outcome.output.length
    }
    for (const { jobs } of submissions) {
      items += jobs.length
      for (const { input } of jobs) bytes += input.length
    }
    return items >= maxItems || bytes >= maxBytes
  }

  get jobs(): number {
    return this.parts.submissions.members.reduce((sum, { jobs }) => sum + jobs.length, 0)
  }

  settle(answer: StepAnswer): void {
    this.parts.reports.settle(answer.reports)
    this.parts.outcomes.settle(answer.outcomes)
    this.parts.submissions.settle(answer.submissions)
    this.parts.claims.settle(answer.claims)
  }

  fail(error: StoreError): void {
    for (const part of Object.values(this.parts)) part.fail(error)
  }
}

interface RoomTask {
  readonly items: number
  readonly task: () => void
}

/** Gathers items and hands them over by calls of {@link Steps}. */
export interface StepSource {
  flush(): void
}

interface StepsParts {
  readonly store: Pick<Store, 'isSharded' | 'steps'>
  readonly clock: Clock
}

/**
 * Sends all items of an event loop turn to the store as one call, with at most two calls in progress: a lone job goes at
 * once, and steps grow with the load. Each server of a cluster has calls of its own.
 */
export class Steps {
  readonly #parts: StepsParts
  readonly #endOfTurn = (): void => this.#turnEnds()
  readonly #answers = new AnswerOrder()
  #sources: readonly StepSource[] = []
  #draft = new Draft()
  #full: Draft[] = []
  #isArmed = false
  /** Items for the next flush. */
  #gathered = 0
  /** The same, one turn ago. */
  #gatheredBefore = 0
  /** Items of the last step. */
  #lastItems = 0
  #underWay = 0
  /** Waiting for room. */
  #roomTasks: RoomTask[] = []

  constructor(parts: StepsParts) {
    this.#parts = parts
  }

  /** Sources of a step's items, in order. */
  takeFrom(...sources: readonly StepSource[]): void {
    this.#sources = sources
  }

  /** An item was added for the next flush. */
  readonly added = (): void => {
    this.#gathered += 1
    this.#arm()
  }

  /** Sends all gathered items, however many steps are in progress. */
  flush(): void {
    this.#gather()
    while (this.#sendNext()) continue
  }

  /** Runs a task, now or later, when fewer items wait for a step. */
  whenRoom(items: number, task: () => void): void {
    if (this.#hasRoom(items)) task()
    else this.#roomTasks.push({ items, task })
  }

  #hasRoom(items: number): boolean {
    return this.#gathered < items && this.#full.length === 0
  }

  /** True if the store has answered all that this node has sent and gathered; never in a cluster, whose calls are not counted. */
  get isAtRest(): boolean {
    const isGathering = this.#gathered + this.#full.length + this.#draft.members > 0
    return !isGathering && this.#underWay === 0 && !this.#parts.store.isSharded
  }

  report(reports: readonly StepReport[]): Promise<readonly boolean[]> {
    return this.#add('reports', reports)
  }

  async finish(lane: string, outcomes: readonly Outcome[]): Promise<readonly Settled[]> {
    return soleAnswer(await this.#add('outcomes', [{ lane, outcomes }]))
  }

  /** Jobs handed over first stand in line first, also within one step. */
  submit(arrivals: readonly LaneArrivals[]): Promise<readonly (LaneSubmitted | StoreError)[]> {
    const before = this.#draft.jobs
    const behind = (of: LaneArrivals): LaneArrivals => {
      return { ...of, places: of.places.map((place) => place + before) }
    }
    return this.#add('submissions', before === 0 ? arrivals : arrivals.map(behind))
  }

  async claim(request: ClaimRequest): Promise<readonly Lease[]> {
    return soleAnswer(await this.#add('claims', [request]))
  }

  async #add<Kind extends keyof Step>(kind: Kind, members: Step[Kind]): Promise<StepAnswer[Kind]> {
    if (this.#parts.store.isSharded) {
      return (await this.#parts.store.steps.step({ ...noStep, [kind]: members }))[kind]
    }
    const part = this.#draft.parts[kind] as Part<unknown, unknown>
    const answers = part.add(members)
    this.#arm()
    if (this.#draft.isFull) {
      this.#full.push(this.#draft)
      this.#draft = new Draft()
    }
    return (await answers) as StepAnswer[Kind]
  }

  #arm(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    this.#parts.clock.endOfTurn(this.#endOfTurn)
  }

  #turnEnds(): void {
    this.#isArmed = false
    if (this.#isLoadRising()) {
      this.#arm()
      return
    }
    while (this.#mayGo()) {
      this.#gather()
      if (!this.#sendNext()) break
    }
    if (this.#roomTasks.length === 0) return
    for (const { items, task } of this.#roomTasks.splice(0)) this.whenRoom(items, task)
  }

  /** True while a step waits: each turn brings more, and the last step had more. */
  #isLoadRising(): boolean {
    const before = this.#gatheredBefore
    this.#gatheredBefore = this.#gathered
    const last = this.#lastItems
    return this.#gathered > before && this.#gathered < (last < growsFrom ? last : growth * last)
  }

  #mayGo(): boolean {
    if (this.#underWay === 0) return true
    return this.#underWay === 1 && this.#gathered >= secondStepItems
  }

  #gather(): void {
    if (this.#gathered === 0) return
    this.#lastItems = Math.min(this.#gathered, maxItems)
    this.#gatheredBefore = 0
    // A source may add items of another: they go along.
    while (this.#gathered > 0) {
      this.#gathered = 0
      for (const source of this.#sources) source.flush()
    }
  }

  /** Sends the next step; false if there is none. */
  #sendNext(): boolean {
    const next = this.#full.shift() ?? this.#draft
    if (next.members === 0) return false
    if (next === this.#draft) this.#draft = new Draft()
    void this.#send(next)
    return true
  }

  async #send(draft: Draft): Promise<void> {
    this.#underWay += 1
    try {
      draft.settle(await this.#answers.inTurn(this.#parts.store.steps.step(draft.step)))
    } catch (error) {
      draft.fail(toStoreError(error))
    } finally {
      this.#underWay -= 1
      if (this.#gathered > 0 || this.#full.length > 0 || this.#draft.members > 0) this.#arm()
    }
  }
}
