import type { LaneRegistry } from '../model/lane-registry.ts'
import type { ActiveLeases } from './active-leases.ts'
import type { Subscription } from '../model/subscription.ts'
import type { Lease } from '../model/job.ts'
import { EmptyCache } from './empty-cache.ts'
import type { Clock } from '../clock.ts'
import type { Observer } from '../observer.ts'
import { toStoreError } from '../store/store-errors.ts'
import type { Store } from '../store/store.ts'
import type { Delivery, FetchRequest } from '../model/requests.ts'
import { PrefetchBuffer, prefetchTtlMs } from './prefetch-buffer.ts'
import type { Steps } from './steps.ts'
import type { ArrivalCounters } from './arrival-counters.ts'
import type { WorkerLimits } from './worker-limits.ts'
import { BatchQueue } from '../intake/batch-queue.ts'
import type { Pauses } from '../admin/pauses.ts'
import type { ChannelSubscriptions } from '../notify/channel-subscriptions.ts'
import type { Outcomes } from '../results/outcomes.ts'
import type { SchedulerEmitter } from '../scheduler-events.ts'
import type { Bridging } from './bridging.ts'

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer
  readonly registry: LaneRegistry
  readonly activeLeases: ActiveLeases
  readonly outcomes: Outcomes
  /**
   * Workers that a job may lose, 0: any number. With a bound, no job is leased before its worker
   * asks.
   */
  readonly maxLosses: number
  readonly steps: Steps
  readonly arrivals: ArrivalCounters
  readonly bridging: Bridging
  readonly subscriptions: ChannelSubscriptions
  readonly workerLimits: WorkerLimits
  readonly pauses: Pauses
  readonly events: SchedulerEmitter
}

/**
 * A claim answered later is given back, milliseconds: if this process stood still, other nodes may
 * have taken it for dead and reassigned the jobs.
 */
const claimTimeoutMs = 3_000
/** Most jobs that one call prefetches for workers that are being woken. */
const mostAnticipated = 8

/** Hands out jobs: workers that want the same share one call, first come first served. */
export class Claims {
  readonly #parts: Parts
  readonly #batch: BatchQueue<FetchRequest>
  readonly #prefetched = new PrefetchBuffer()
  readonly #emptyCache = new EmptyCache()
  /** Requests that wait for jobs of a prefetch in progress, by subscription. */
  readonly #expecting = new Map<string, FetchRequest[]>()
  /** Subscriptions to prefetch for at the end of this turn, and the least number of jobs. */
  readonly #toRefill = new Map<
    string,
    { readonly subscription: Subscription; readonly least: number }
  >()
  #stopWatchingBuffer: (() => void) | undefined
  readonly #roomTimers = new Map<string, () => void>()
  readonly #throttled = (queue: string, waitMs: number): void => this.#lookAgain(queue, waitMs)
  #stopped = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#batch = new BatchQueue(parts.steps.added, (_key, requests) => {
      const [first] = requests
      if (first) void this.#send(first.subscription, requests)
    })
  }

  stop(): void {
    this.#stopped = true
    for (const cancel of this.#roomTimers.values()) cancel()
    this.#roomTimers.clear()
    this.#stopWatchingBuffer?.()
    this.#giveBack(this.#prefetched.drain())
  }

  add(request: FetchRequest): void {
    const { subscription } = request
    if (this.#stopped || subscription.idleKeys.length === 0) request.onEmpty()
    else if (this.#serveFromBuffer(request) || this.#expect(request)) return
    else if (request.isPipelined && this.isKnownEmpty(subscription)) request.onEmpty()
    else this.#batch.add(this.#batchKey(request), request)
  }

  /** True where the store is known to hold nothing for it. */
  isKnownEmpty(subscription: Subscription): boolean {
    const { clock, arrivals, subscriptions } = this.#parts
    return (
      this.#emptyCache.holds(subscription, arrivals.of(subscription), clock.nowMs()) &&
      this.#prefetched.sizeFor(subscription) === 0 &&
      subscriptions.hears(subscription)
    )
  }

  /**
   * Called for jobs on their way to the store: prefetches, with them, the job of the worker that
   * will be woken, if workers of its kind ask without delay. Returns true if it does.
   */
  anticipate(subscription: Subscription, jobs: number): boolean {
    const isLively = this.#prefetched.isLively(subscription, this.#parts.clock.nowMs())
    if (this.#stopped || !subscription.mayWait || !this.#mayClaimAhead || !isLively) return false
    this.#refill(subscription, Math.min(jobs, mostAnticipated))
    return true
  }

  flush(): void {
    this.#batch.flush()
    for (const { subscription, least } of this.#toRefill.values())
      void this.#send(subscription, [], least)
    this.#toRefill.clear()
  }

  /** Workers that want the same share a call, unless each has a limit of its own. */
  #batchKey(request: FetchRequest): string {
    const { subscription } = request
    if (!this.#parts.workerLimits.concerns(subscription)) return subscription.key
    return `${subscription.key}\0${this.#workerOf(request)}`
  }

  /** Made unique over all nodes: another node may know a worker by the same name. */
  #workerOf({ worker }: FetchRequest): string {
    if (!worker) return ''
    return worker.isShared ? `w${worker.name}` : `c${this.#parts.store.node}-${worker.name}`
  }

  #serveFromBuffer(request: FetchRequest): boolean {
    const { subscription } = request
    if (!this.#mayClaimAhead || !subscription.mayWait) return false
    const nowMs = this.#parts.clock.nowMs()
    const job = this.#prefetched.take(subscription, nowMs)
    this.#watchBuffer()
    if (!job) return false
    this.#assign({ job, sinceMs: nowMs }, request)
    if (this.#prefetched.wanted(subscription, nowMs) > 0) this.#refill(subscription, 0)
    return true
  }

  /** False if no job is on its way for such workers, so that one has to be asked for. */
  #expect(request: FetchRequest): boolean {
    const { subscription } = request
    const expecting = this.#expecting.get(subscription.key)
    if (!subscription.mayWait) return false
    if (this.#prefetched.comingFor(subscription) <= (expecting?.length ?? 0)) return false
    if (expecting) expecting.push(request)
    else this.#expecting.set(subscription.key, [request])
    return true
  }

  /** A prefetch was answered. */
  #arrived(subscription: Subscription, ahead: number): void {
    this.#prefetched.arrived(subscription, ahead)
    const expecting = this.#expecting.get(subscription.key)
    this.#expecting.delete(subscription.key)
    for (const request of expecting ?? []) if (!request.gone) this.add(request)
  }

  #refill(subscription: Subscription, least: number): void {
    this.#toRefill.set(subscription.key, { subscription, least })
    this.#parts.steps.added()
  }

  async #send(subscription: Subscription, all: readonly FetchRequest[], least = 0): Promise<void> {
    const requests = all.filter((request) => !request.gone)
    if (this.#stopped) {
      for (const request of requests) request.onEmpty()
      return
    }
    const { steps, clock, registry, arrivals, subscriptions, activeLeases, pauses } = this.#parts
    const wanted = this.#prefetched.wanted(subscription, clock.nowMs())
    const ahead = Math.max(wanted, least - this.#prefetched.sizeFor(subscription))
    if (requests.length + ahead === 0) return
    if (ahead > 0) this.#prefetched.coming(subscription, ahead)
    const isHeard = subscriptions.hears(subscription)
    const arrivalsBefore = isHeard ? arrivals.byOthers(subscription) : undefined
    const left = { isEmpty: false }
    const sentMs = clock.nowMs()
    activeLeases.claiming()
    try {
      const { groups, paused } = pauses.unpaused(subscription.by, subscription.groups(registry))
      const [first] = requests
      const isLimited = first !== undefined && this.#parts.workerLimits.concerns(subscription)
      const jobs = await steps.claim({
        ...(isLimited && { worker: this.#workerOf(first) }),
        by: subscription.by,
        access: subscription.access,
        ...{ groups, ...(paused.length > 0 && { paused }) },
        byLevel: subscription.byLevel ?? false,
        max: requests.length,
        ahead,
        throttled: this.#throttled,
        emptied: () => (left.isEmpty = true),
      })
      if (!this.#mayHandOut(sentMs)) {
        this.#takeBack(requests, jobs)
        return
      }
      // Jobs of this node that were answered meanwhile had reached the store before the claim.
      if (left.isEmpty && arrivalsBefore === arrivals.byOthers(subscription)) {
        this.#emptyCache.note(subscription, arrivals.of(subscription), clock.nowMs())
        this.#watchBuffer()
      }
      this.#handOut(subscription, requests, jobs, !left.isEmpty)
    } catch (error) {
      const refusal = toStoreError(error)
      for (const request of requests) request.refused(refusal)
    } finally {
      if (ahead > 0) this.#arrived(subscription, ahead)
      activeLeases.claimed()
    }
  }

  /** False where a job must not be leased before its worker asks. */
  get #mayClaimAhead(): boolean {
    return this.#parts.maxLosses === 0
  }

  #mayHandOut(sentMs: number): boolean {
    return !this.#stopped && this.#parts.clock.nowMs() - sentMs <= claimTimeoutMs
  }

  /** Gives back, by their tokens, jobs that are still this node's; others stay as they are. */
  #takeBack(requests: readonly FetchRequest[], jobs: readonly Lease[]): void {
    this.#giveBack(jobs)
    for (const request of requests) if (!request.gone) request.onEmpty()
  }

  #handOut(
    subscription: Subscription,
    requests: readonly FetchRequest[],
    jobs: readonly Lease[],
    hasMore: boolean,
  ): void {
    const sinceMs = this.#parts.clock.nowMs()
    if (subscription.by === 'consumer') for (const job of jobs) this.#parts.bridging.handedOut(job)
    const left = requests.filter((request) => !request.gone)
    const own = jobs.slice(0, requests.length)
    const ahead = jobs.slice(requests.length)
    for (const job of own) this.#assign({ job, sinceMs }, left.shift())
    for (const request of left) request.onEmpty()
    if (subscription.mayWait) {
      this.#prefetched.came(subscription, own.length, ahead, hasMore, sinceMs)
      this.#watchBuffer()
    }
  }

  /** They count as held until the store has them back: a gateway that stops waits for it. */
  #giveBack(jobs: readonly Lease[]): void {
    const sinceMs = this.#parts.clock.nowMs()
    for (const job of jobs) {
      this.#parts.activeLeases.add({ job, sinceMs })
      const { lane, id, token } = job
      this.#parts.outcomes.add(undefined, { lane, id, token, kind: 'requeueFront' })
    }
  }

  /** Gives back prefetched jobs in time when workers stop asking. */
  #watchBuffer(): void {
    this.#stopWatchingBuffer ??= this.#parts.clock.after(prefetchTtlMs, () => {
      this.#stopWatchingBuffer = undefined
      const nowMs = this.#parts.clock.nowMs()
      this.#giveBack(this.#prefetched.overdue(nowMs))
      this.#emptyCache.prune(nowMs)
      if (!this.#prefetched.isEmpty || !this.#emptyCache.isEmpty) this.#watchBuffer()
    })
  }

  /** Wakes waiting workers when a rate limit has room again. */
  #lookAgain(queue: string, waitMs: number): void {
    if (this.#stopped || waitMs === 0 || this.#roomTimers.has(queue)) return
    const { clock, events } = this.#parts
    const cancel = clock.after(waitMs, () => {
      this.#roomTimers.delete(queue)
      events.emit('roomAgain', queue)
    })
    this.#roomTimers.set(queue, cancel)
  }

  #assign(assignment: Delivery, request: FetchRequest | undefined): void {
    this.#parts.activeLeases.add(assignment)
    if (!request) {
      this.#putBack(assignment)
      return
    }
    const { job } = assignment
    this.#parts.observer.assigned(job)
    request.assigned(assignment)
  }

  /** The worker left before its job came. */
  #putBack({ job: { lane, id, token } }: Delivery): void {
    const { outcomes, maxLosses } = this.#parts
    outcomes.add(undefined, { lane, id, token, kind: 'requeue', lost: false, maxLosses })
  }
}
