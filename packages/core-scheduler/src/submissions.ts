import { Flights } from './flights.ts'
import { HeldSubmission, type HeldParts } from './held-submission.ts'
import type { NewJob } from './job.ts'
import type { LaneRegistry } from './lane-registry.ts'
import { maxLanes } from './lane-registry.ts'
import { StoreError, type Clock, type Observer, type Store } from './ports.ts'
import type { Submission } from './requests.ts'
import { toStoreError } from './store-errors.ts'
import { Gathered } from './gathered.ts'
import type { Waiters } from './waiters.ts'

interface Pending {
  readonly submission: Submission
  readonly job: NewJob
}

/** What a route adds to a job, over what the door says. */
export interface RoutePolicy {
  readonly retries: number | undefined
  readonly retentionSeconds: number | undefined
}

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer
  readonly registry: LaneRegistry
  readonly waiters: Waiters
  readonly added: () => void
  /** So many jobs are queued, and so many workers are awake for them already. */
  readonly wake: (lane: string, jobs: number, awake: number) => void
  /** So many jobs that are to be queued leave for the store. Returns how many workers wake for them. */
  readonly sending: (lane: string, jobs: number) => number
  /** Whether the store tells this node of jobs in the lane, its own among them. */
  readonly isWatched: (lane: string) => boolean
  /** The store's clock, milliseconds since 1970. */
  readonly storeNowMs: () => number
}

/** Own jobs that are remembered per lane until the store tells of them. */
const maxRemembered = 10_000

/** Takes jobs in: in batches per lane, answered when the store has it. */
export class Submissions {
  readonly #parts: Parts
  readonly #batch: Gathered<Pending>
  readonly #abandoned: Gathered<number>
  readonly #registering = new Map<string, Promise<number>>()
  readonly #flights = new Flights()
  readonly #own = new Map<string, Set<number>>()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#batch = new Gathered(parts.added, (lane, items) => void this.#send(lane, items))
    this.#abandoned = new Gathered(parts.added, (lane, ids) => void this.#sendAbandoned(lane, ids))
  }

  add(lane: string, submission: Submission, route: RoutePolicy): void {
    const job = routedJob(submission.job, route)
    const pending = { submission, job }
    if (this.#parts.registry.numberOf(lane) !== undefined) {
      this.#batch.add(lane, pending, job.input.length)
      return
    }
    this.laneNumber(lane).then(
      () => this.#batch.add(lane, pending, job.input.length),
      (error: unknown) => submission.refused(toStoreError(error)),
    )
  }

  abandon(lane: string, ids: readonly number[]): void {
    for (const id of ids) this.#abandoned.add(lane, id)
  }

  flush(): void {
    this.#batch.flush()
    this.#abandoned.flush()
  }

  /** The lane's number; a new lane is registered first. */
  laneNumber(lane: string): Promise<number> {
    const { registry, store } = this.#parts
    const known = registry.numberOf(lane)
    if (known !== undefined) return Promise.resolve(known)
    const pending = this.#registering.get(lane)
    if (pending) return pending
    if (registry.size >= maxLanes) {
      return Promise.reject(new StoreError('TOO_MANY_LANES', `more than ${maxLanes} functions`))
    }
    const registering = store
      .registerLane(lane)
      .then((number) => {
        registry.add(lane, number)
        return number
      })
      .finally(() => this.#registering.delete(lane))
    this.#registering.set(lane, registering)
    return registering
  }

  /** Settles when the new lanes of now have their numbers, or cannot have them. */
  async registered(): Promise<void> {
    await Promise.allSettled(this.#registering.values())
  }

  /**
   * Runs `task` when the submissions of the lane that are under way are answered, now if none is: an
   * event may overtake the answer that makes its job known here.
   */
  settled(lane: string, task: () => void): void {
    this.#flights.settled(lane, task)
  }

  /** Whether the store tells of a job that came through this node; asked once per job. */
  isOwn(lane: string, id: number): boolean {
    return this.#own.get(lane)?.delete(id) ?? false
  }

  async #send(lane: string, items: readonly Pending[]): Promise<void> {
    const landed = this.#flights.begin(lane)
    const awake = this.#parts.sending(lane, items.length)
    try {
      const results = await this.#parts.store.submit(
        lane,
        items.map(({ job }) => job),
      )
      // A lane that was dropped meanwhile comes again.
      if (this.#parts.registry.numberOf(lane) === undefined) await this.laneNumber(lane)
      if (this.#parts.store.confirm) void this.#answerConfirmed(lane, items, results, awake)
      else this.#answer(lane, items, results, awake)
    } catch (error) {
      const refusal = toStoreError(error)
      for (const { submission } of items) submission.refused(refusal)
    } finally {
      landed()
    }
  }

  /** The jobs exist and workers get them, but clients hear of them when they are as safe as was asked for. */
  async #answerConfirmed(
    lane: string,
    items: readonly Pending[],
    results: Awaited<ReturnType<Store['submit']>>,
    awake: number,
  ): Promise<void> {
    const { store, observer, waiters } = this.#parts
    const held = items.map(({ submission, job }) => ({
      job,
      submission: new HeldSubmission(submission, lane),
    }))
    this.#answer(lane, held, results, awake)
    const parts: HeldParts = {
      waiters,
      abandon: (of, ids) => this.abandon(of, ids),
    }
    try {
      if (results.some((result) => 'id' in result)) await store.confirm?.()
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
    results: Awaited<ReturnType<Store['submit']>>,
    awake: number,
  ): void {
    const { registry, waiters, clock, wake, observer } = this.#parts
    const number = registry.numberOf(lane) ?? 0
    const nowMs = clock.nowMs()
    const isWatched = this.#parts.isWatched(lane)
    let created = 0
    for (const [at, { submission, job }] of items.entries()) {
      const result = results[at] ?? { kind: 'full' }
      // An id that is given again: the store came back without the job that had it.
      if (result.kind === 'created' && waiters.has(lane, result.id)) {
        waiters.giveUp({ lane, id: result.id })
      }
      if ('id' in result && submission.waiter) {
        if (submission.gone) this.abandon(lane, [result.id])
        else waiters.add(lane, result.id, submission.waiter, nowMs)
      }
      if (result.kind === 'created') {
        if (isWatched) this.#remember(lane, result.id)
        observer.submitted(job.door, 1)
        if (job.dueAtMs === undefined || job.dueAtMs <= this.#parts.storeNowMs()) created += 1
      }
      submission.submitted(result, number)
    }
    if (created > 0) wake(lane, created, awake)
  }

  #remember(lane: string, id: number): void {
    const ids = this.#own.get(lane)
    if (!ids || ids.size >= maxRemembered) this.#own.set(lane, new Set([id]))
    else ids.add(id)
  }

  async #sendAbandoned(lane: string, ids: readonly number[]): Promise<void> {
    try {
      await this.#parts.store.abandon(lane, ids)
    } catch (error) {
      this.#parts.observer.trouble('abandon', error)
    }
  }
}

function routedJob(job: NewJob, route: RoutePolicy): NewJob {
  if (route.retries === undefined && route.retentionSeconds === undefined) return job
  return {
    ...job,
    ...(route.retries === undefined || job.retries !== undefined ? {} : { retries: route.retries }),
    ...(route.retentionSeconds === undefined ? {} : { retentionSeconds: route.retentionSeconds }),
  }
}
