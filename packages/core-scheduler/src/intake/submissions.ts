import { BatchQueue, type Size } from '../node/steps.ts'
import type { NodeContext } from '../node/node-context.ts'
import { PendingAck, type PendingAckParts } from './pending-ack.ts'
import type { Level, NewJob } from '../model/job.ts'
import { ArrivalLines } from './arrival-lines.ts'
import { RouteAdmission } from './route-admission.ts'
import { type RouteTerms, withTerms } from '../model/route-terms.ts'
import { StoreError, toStoreError } from '../model/store-errors.ts'
import type { LaneArrivals, LaneSubmitted } from '../store/step-ports.ts'
import type { Submission } from '../model/requests.ts'
import type { Claims } from '../dispatch/claims.ts'
import { nobody, type Awake } from '../node/wakeups.ts'

interface Pending {
  readonly lane: string
  readonly submission: Submission
  readonly job: NewJob
}

/** Arrivals of one lane in one call. */
interface Arrivals extends LaneArrivals {
  readonly jobs: NewJob[]
  readonly places: number[]
  readonly items: Pending[]
}

type Answer = LaneSubmitted | StoreError

interface Parts extends NodeContext {
  readonly claims: Claims
}

/** All jobs go into one batch, in the order of arrival. */
const oneBatch = ''

/** Takes jobs in, in order and in batches; answers when the store has them. */
export class Submissions {
  readonly #parts: Parts
  readonly #batch: BatchQueue<Pending>
  readonly #abandoned: BatchQueue<number>
  readonly #admission: RouteAdmission
  readonly #lines: ArrivalLines<Pending>
  /** Lanes that are open to consumers, by the store's last answer. */
  readonly #open = new Set<string>()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#admission = new RouteAdmission(parts)
    parts.events.on('laneRemoved', (lane) => void this.#open.delete(lane))
    this.#batch = new BatchQueue(parts.steps.added, (_key, items, size) => this.#send(items, size))
    this.#lines = new ArrivalLines(
      (pending) => this.#gather(pending),
      ({ submission }, error) => submission.refused(toStoreError(error)),
    )
    this.#abandoned = new BatchQueue(
      parts.steps.added,
      (lane, ids) => void this.#sendAbandoned(lane, ids),
    )
  }

  /** The job waits for `ready`; later jobs for its queue wait behind it. */
  add(lane: string, submission: Submission, route?: RouteTerms, ready?: Promise<unknown>): void {
    const { registry, registrar, wakeups } = this.#parts
    const job = route ? this.#routedJob(lane, submission.job, route) : submission.job
    const pending = { lane, submission, job }
    const isKnown = registry.numberOf(lane) !== undefined
    if (!ready && isKnown && this.#lines.isEmpty) {
      this.#gather(pending)
      return
    }
    // Workers that ask for its jobs no longer hear that there is no such lane: see hasCounted.
    if (!isKnown) wakeups.countArrival(lane, true)
    const { queue } = registry.names.parse(lane)
    this.#lines.add(queue, pending, ready ?? (isKnown ? undefined : registrar.register(lane)))
  }

  #routedJob(lane: string, job: NewJob, route: RouteTerms): NewJob {
    const { heartbeat, registry } = this.#parts
    const routed = withTerms(job, route, heartbeat.storeNowMs(), registry.names.parse(lane))
    const admission = this.#admission.of(lane, job, route)
    return admission ? { ...routed, admission } : routed
  }

  abandon(lane: string, ids: readonly number[]): void {
    for (const id of ids) this.#abandoned.add(lane, id)
  }

  flush(): void {
    this.#batch.flush()
    this.#abandoned.flush()
  }

  #gather(pending: Pending): void {
    this.#batch.add(oneBatch, pending, pending.job.input.length)
  }

  #send(items: readonly Pending[], size: Size): void {
    const { ownSubmissions, claims, steps } = this.#parts
    const arrivals = byLane(items)
    const begun = arrivals.map((of) => ({
      landed: ownSubmissions.begin(of.lane),
      awake: claims.wakeEarly(of.lane, this.#due(of.jobs), this.#open.has(of.lane)),
    }))
    steps.submit(arrivals, size, (answers) => {
      for (const [at, of] of arrivals.entries()) {
        this.#take(of, answers instanceof StoreError ? answers : answers[at], begun[at]?.awake)
        begun[at]?.landed()
      }
    })
  }

  /** The levels of the jobs that are due at once. */
  #due(jobs: readonly NewJob[]): readonly Level[] {
    const nowMs = this.#parts.heartbeat.storeNowMs()
    const due = jobs.filter(({ dueAtMs }) => dueAtMs === undefined || dueAtMs <= nowMs)
    return due.map(({ level }) => level)
  }

  #take(
    { lane, items }: Arrivals,
    answer: Answer = new StoreError('REFUSED', 'the store did not answer'),
    earlyAwake: Awake = nobody,
  ): void {
    const { registrar, store } = this.#parts
    try {
      if (answer instanceof StoreError) throw answer
      // The step has registered a lane that was dropped meanwhile.
      if (answer.laneNumber !== undefined) void registrar.added(lane, answer.laneNumber)
      const awake = answer.isRepeated ? nobody : earlyAwake
      if (answer.isOpen) this.#open.add(lane)
      else this.#open.delete(lane)
      if (store.confirm) void this.#answerConfirmed(lane, items, answer, awake)
      else this.#answer(lane, items, answer, awake)
    } catch (error) {
      const refusal = toStoreError(error)
      for (const { submission } of items) submission.refused(refusal)
    }
  }

  /**
   * The jobs exist and run; clients get their answers once they are as durable as was asked for.
   */
  async #answerConfirmed(
    lane: string,
    items: readonly Pending[],
    answer: LaneSubmitted,
    awake: Awake,
  ): Promise<void> {
    const { store, observer, waiters } = this.#parts
    const held = items.map(({ submission, job }) => ({
      lane,
      job,
      submission: new PendingAck(submission, lane),
    }))
    this.#answer(lane, held, answer, awake)
    const parts: PendingAckParts = {
      waiters,
      abandon: (of, ids) => this.abandon(of, ids),
    }
    try {
      if (answer.results.some((result) => 'id' in result)) await store.confirm?.()
    } catch (error) {
      const refusal = toStoreError(error)
      observer.unconfirmed('submissions', held.length, refusal)
      for (const { submission } of held) submission.refuse(refusal, parts)
      return
    }
    for (const { submission } of held) submission.release(parts)
  }

  #answer(
    lane: string,
    items: readonly Pending[],
    { results, isPublished, isOpen, laneNumber }: LaneSubmitted,
    awake: Awake,
  ): void {
    const { registry, waiters, clock, wakeups, observer, subscriptions, heartbeat } = this.#parts
    const number = laneNumber ?? registry.numberOf(lane) ?? 0
    const nowMs = clock.nowMs()
    const isWatched = isPublished && subscriptions.covers(lane)
    let created = 0
    for (const [at, { submission, job }] of items.entries()) {
      const result = results[at] ?? { kind: 'full' }
      // The id was used before: the store came back without the job that had it.
      if (result.kind === 'created' && waiters.has(lane, result.id)) {
        waiters.giveUp({ lane, id: result.id })
      }
      if ('id' in result && submission.waiter) {
        if (submission.gone) this.abandon(lane, [result.id])
        else waiters.add(lane, result.id, submission.waiter, nowMs)
      }
      if ('id' in result && !job.isMoved) observer.submitted(lane, job.door, result.kind)
      if (result.kind === 'created') {
        if (result.sharesTurn) observer.turnShared(lane)
        if (isWatched) this.#parts.ownSubmissions.remember(lane, result.id)
        if (job.dueAtMs === undefined || job.dueAtMs <= heartbeat.storeNowMs()) created += 1
      }
      submission.submitted(result, number)
    }
    const { byName, consumers } = awake
    if (created > 0) wakeups.wake(lane, created, { byName, consumers, isOpen })
  }

  async #sendAbandoned(lane: string, ids: readonly number[]): Promise<void> {
    try {
      await this.#parts.store.jobs.abandon(lane, ids)
    } catch (error) {
      this.#parts.observer.error('abandon', error)
    }
  }
}

/** Arrivals by lane. */
function byLane(items: readonly Pending[]): Arrivals[] {
  const found = new Map<string, Arrivals>()
  for (const [place, item] of items.entries()) {
    const { lane, job } = item
    const arrivals = found.get(lane) ?? { lane, jobs: [], places: [], items: [] }
    if (arrivals.items.length === 0) found.set(lane, arrivals)
    arrivals.jobs.push(job)
    arrivals.places.push(place)
    arrivals.items.push(item)
  }
  return [...found.values()]
}
