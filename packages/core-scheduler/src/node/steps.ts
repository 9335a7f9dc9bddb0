import { StoreError, toStoreError } from '../model/store-errors.ts'
import type { Lease, Outcome, Settled, StepReport } from '../model/job.ts'
import type { ClaimRequest } from '../store/claim-ports.ts'
import type { LaneArrivals, LaneSubmitted, Step, StepAnswer } from '../store/step-ports.ts'
import { AnswerOrder } from './answer-order.ts'
import type { NodeParts } from './node-parts.ts'
import { Part } from './node-parts.ts'

/** Bounds of a step and of one hand-over to it; further items go with the next. */
export const maxStepItems = 256
export const maxStepBytes = 4 * 1024 * 1024
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

/** Bytes that keep others from the store as long as one item does. */
const bytesPerItem = 4 * 1024

/** Takes the answers to what was handed over, or the error of the whole step. */
type Answered<Answers> = (answers: Answers | StoreError) => void

/** Jobs, outcomes and so on of one hand-over, as they count for the bounds. */
export interface Size {
  readonly items: number
  readonly bytes: number
}

interface Batch<Item> extends Size {
  readonly all: Item[]
  items: number
  bytes: number
}

/** Collects items by key until the next step, and hands them over in batches that fit into one. */
export class BatchQueue<Item> {
  readonly #added: (bytes: number) => void
  readonly #send: (key: string, items: readonly Item[], size: Size) => void
  #byKey = new Map<string, Batch<Item>>()

  /** `added` is called for each item that waits for {@link flush}. */
  constructor(
    added: (bytes: number) => void,
    send: (key: string, items: readonly Item[], size: Size) => void,
  ) {
    this.#added = added
    this.#send = send
  }

  /** `bytes`: the item's share of the step. */
  add(key: string, item: Item, bytes = 0): void {
    this.#added(bytes)
    const batch = this.#byKey.get(key)
    if (batch && batch.items < maxStepItems && batch.bytes + bytes <= maxStepBytes) {
      batch.all.push(item)
      batch.items += 1
      batch.bytes += bytes
      return
    }
    this.#byKey.set(key, { all: [item], items: 1, bytes })
    if (batch) this.#send(key, batch.all, batch)
  }

  flush(): void {
    if (this.#byKey.size === 0) return
    const byKey = this.#byKey
    this.#byKey = new Map()
    for (const [key, batch] of byKey) this.#send(key, batch.all, batch)
  }
}

/** A step that is being filled, and all who wait for its answer. */
class Draft {
  readonly step = {
    reports: [] as StepReport[],
    outcomes: [] as Step['outcomes'][number][],
    submissions: [] as LaneArrivals[],
    claims: [] as ClaimRequest[],
  } satisfies Step
  readonly #waiting: Answered<StepAnswer>[] = []
  items = 0
  jobs = 0
  #bytes = 0

  get isFull(): boolean {
    return this.items >= maxStepItems || this.#bytes >= maxStepBytes
  }

  add<Kind extends keyof Step>(
    kind: Kind,
    members: Step[Kind],
    { items, bytes }: Size,
    answered: Answered<StepAnswer[Kind]>,
  ): void {
    const part: unknown[] = this.step[kind]
    const from = part.length
    const to = part.push(...members)
    this.items += items
    this.#bytes += bytes
    if (kind === 'submissions') this.jobs += items
    this.#waiting.push((answer) => {
      answered(
        answer instanceof StoreError
          ? answer
          : (answer[kind].slice(from, to) as readonly unknown[] as StepAnswer[Kind]),
      )
    })
  }

  /** Each by itself: one that throws gets its own error as the answer, and costs no other theirs. */
  settle(answer: StepAnswer | StoreError): void {
    for (const waiting of this.#waiting) {
      queueMicrotask(() => {
        try {
          waiting(answer)
        } catch (error) {
          waiting(toStoreError(error))
        }
      })
    }
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

interface Parts {
  readonly store: Pick<NodeParts['store'], 'isSharded' | 'steps'>
  readonly clock: NodeParts['clock']
}

/**
 * Sends all items of an event loop turn to the store as one call, with at most two calls in progress: a lone job goes at
 * once, and steps grow with the load. Each server of a cluster has calls of its own.
 */
export class Steps extends Part<Parts> {
  readonly #endOfTurn = (): void => this.#turnEnds()
  readonly #answers = new AnswerOrder()
  #sources: readonly StepSource[] = []
  #draft = new Draft()
  #full: Draft[] = []
  #isArmed = false
  /** Items for the next flush. */
  #gathered = 0
  #gatheredBytes = 0
  /** The same, one turn ago. */
  #gatheredBefore = 0
  /** Items of the last step. */
  #lastItems = 0
  #underWay = 0
  /** Requests to the store that are in no step. */
  #outside = 0
  /** Waiting for room. */
  #roomTasks: RoomTask[] = []

  /** Sources of a step's items, in order. */
  takeFrom(...sources: readonly StepSource[]): void {
    this.#sources = sources
  }

  /** An item was added for the next flush. */
  readonly added = (bytes = 0): void => {
    this.#gathered += 1
    this.#gatheredBytes += bytes
    this.#arm()
  }

  /** Sends all gathered items, however many steps are in progress. */
  flush(): void {
    this.#gather()
    while (this.#sendNext()) continue
  }

  /** Counts a request that goes to the store by itself among those that wait, until it is answered. */
  countOutside(answer: Promise<unknown>): void {
    this.#outside += 1
    const answered = (): void => {
      this.#outside -= 1
      if (this.#roomTasks.length > 0) this.#arm()
    }
    answer.then(answered, answered)
  }

  /** Runs a task, now or later, when fewer items wait for the store. */
  whenRoom(items: number, task: () => void): void {
    if (this.#hasRoom(items)) task()
    else this.#roomTasks.push({ items, task })
  }

  #hasRoom(items: number): boolean {
    const waiting = this.#gathered + this.#outside + this.#gatheredBytes / bytesPerItem
    return waiting < items && this.#full.length === 0
  }

  /** True if the store has answered all that this node has sent and gathered; never in a cluster, whose calls are not counted. */
  get isAtRest(): boolean {
    const isGathering = this.#gathered + this.#full.length + this.#draft.items > 0
    return !isGathering && this.#underWay === 0 && !this.parts.store.isSharded
  }

  report(reports: readonly StepReport[], size: Size, answered: Answered<readonly boolean[]>): void {
    this.#add('reports', reports, size, answered)
  }

  finish(
    lane: string,
    outcomes: readonly Outcome[],
    size: Size,
    answered: Answered<readonly Settled[]>,
  ): void {
    this.#add('outcomes', [{ lane, outcomes }], size, (answers) => answered(soleOf(answers)))
  }

  /** Jobs handed over first stand in line first, also within one step. */
  submit(
    arrivals: readonly LaneArrivals[],
    size: Size,
    answered: Answered<readonly (LaneSubmitted | StoreError)[]>,
  ): void {
    const before = this.parts.store.isSharded ? 0 : this.#draft.jobs
    const later = (of: LaneArrivals): LaneArrivals => {
      return { ...of, places: of.places.map((place) => place + before) }
    }
    this.#add('submissions', before === 0 ? arrivals : arrivals.map(later), size, answered)
  }

  claim(request: ClaimRequest, answered: Answered<readonly Lease[]>): void {
    const size = { items: 1, bytes: 0 }
    this.#add('claims', [request], size, (answers) => answered(soleOf(answers)))
  }

  #add<Kind extends keyof Step>(
    kind: Kind,
    members: Step[Kind],
    size: Size,
    answered: Answered<StepAnswer[Kind]>,
  ): void {
    if (this.parts.store.isSharded) {
      const alone = new Draft()
      alone.add(kind, members, size, answered)
      void this.#settle(alone, this.parts.store.steps.step(alone.step))
      return
    }
    this.#draft.add(kind, members, size, answered)
    this.#arm()
    if (!this.#draft.isFull) return
    this.#full.push(this.#draft)
    this.#draft = new Draft()
  }

  #arm(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    this.parts.clock.endOfTurn(this.#endOfTurn)
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
    this.#lastItems = Math.min(this.#gathered, maxStepItems)
    this.#gatheredBefore = 0
    // A source may add items of another: they go along.
    this.#gatheredBytes = 0
    while (this.#gathered > 0) {
      this.#gathered = 0
      for (const source of this.#sources) source.flush()
    }
  }

  /** Sends the next step; false if there is none. */
  #sendNext(): boolean {
    const next = this.#full.shift() ?? this.#draft
    if (next.items === 0) return false
    if (next === this.#draft) this.#draft = new Draft()
    void this.#send(next)
    return true
  }

  async #send(draft: Draft): Promise<void> {
    this.#underWay += 1
    await this.#settle(draft, this.#answers.inTurn(this.parts.store.steps.step(draft.step)))
    this.#underWay -= 1
    if (this.#gathered > 0 || this.#full.length > 0 || this.#draft.items > 0) this.#arm()
  }

  async #settle(draft: Draft, answer: Promise<StepAnswer>): Promise<void> {
    draft.settle(await answer.catch(toStoreError))
  }
}

function soleOf<Answer>(
  answers: readonly (Answer | StoreError)[] | StoreError,
): Answer | StoreError {
  if (answers instanceof StoreError) return answers
  return answers[0] ?? new StoreError('REFUSED', 'the store did not answer')
}
