import type { Clock } from '../clock.ts'
import type { Lease } from '../model/job.ts'
import type { FetchRequest } from '../model/requests.ts'
import type { Subscription } from '../model/subscription.ts'
import type { ChannelSubscriptions } from '../notify/channel-subscriptions.ts'
import type { ArrivalCounters } from './arrival-counters.ts'
import { EmptyCache } from './empty-cache.ts'
import { PrefetchBuffer, prefetchTtlMs } from './prefetch-buffer.ts'

/** Most jobs that one call prefetches for workers that are being woken. */
const mostAnticipated = 8

interface Parts {
  readonly clock: Clock
  readonly arrivals: ArrivalCounters
  readonly subscriptions: Pick<ChannelSubscriptions, 'hears'>
  /**
   * Workers that a job may lose, 0: any number. With a bound, no job is leased before its worker
   * asks.
   */
  readonly maxLosses: number
  /** Called when there is something to prefetch. */
  readonly refillNeeded: () => void
  /** Takes prefetched jobs that nobody asked for. */
  readonly giveBack: (jobs: readonly Lease[]) => void
}

/** A prefetch to send, and the least number of jobs. */
interface Refill {
  readonly subscription: Subscription
  readonly least: number
}

/** Answers claims without the store: by jobs leased ahead, and where lanes are known to be empty. */
export class LocalAnswers {
  readonly #parts: Parts
  readonly #prefetched = new PrefetchBuffer()
  readonly #emptyCache = new EmptyCache()
  /** Requests that wait for jobs of a prefetch in progress, by subscription. */
  readonly #expecting = new Map<string, FetchRequest[]>()
  readonly #toRefill = new Map<string, Refill>()
  #stopWatching: (() => void) | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  stop(): void {
    this.#stopWatching?.()
    this.#parts.giveBack(this.#prefetched.drain())
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

  /** Notes that the store had nothing left. */
  noteEmpty(subscription: Subscription): void {
    const { clock, arrivals } = this.#parts
    this.#emptyCache.note(subscription, arrivals.of(subscription), clock.nowMs())
    this.#watch()
  }

  /** Takes a prefetched job for a worker that asks. */
  take(subscription: Subscription): Lease | undefined {
    if (!this.#mayClaimAhead || !subscription.mayWait) return undefined
    const nowMs = this.#parts.clock.nowMs()
    const job = this.#prefetched.take(subscription, nowMs)
    this.#watch()
    if (job && this.#prefetched.wanted(subscription, nowMs) > 0) this.#refill(subscription, 0)
    return job
  }

  /** Lets a request wait for a job that is on its way for such workers; false if none is. */
  expect(request: FetchRequest): boolean {
    const { subscription } = request
    const expecting = this.#expecting.get(subscription.key)
    if (!subscription.mayWait) return false
    if (this.#prefetched.comingFor(subscription) <= (expecting?.length ?? 0)) return false
    if (expecting) expecting.push(request)
    else this.#expecting.set(subscription.key, [request])
    return true
  }

  /** Prefetches for a worker that will be woken, if workers of its kind ask without delay. */
  anticipate(subscription: Subscription, jobs: number): boolean {
    const isLively = this.#prefetched.isLively(subscription, this.#parts.clock.nowMs())
    if (!subscription.mayWait || !this.#mayClaimAhead || !isLively) return false
    this.#refill(subscription, Math.min(jobs, mostAnticipated))
    return true
  }

  /** Takes out the prefetches to send. */
  refills(): readonly Refill[] {
    const all = [...this.#toRefill.values()]
    this.#toRefill.clear()
    return all
  }

  /** Number of jobs that a call for this subscription should prefetch; they count as coming. */
  ask(subscription: Subscription, least: number): number {
    const wanted = this.#prefetched.wanted(subscription, this.#parts.clock.nowMs())
    const ahead = Math.max(wanted, least - this.#prefetched.sizeFor(subscription))
    if (ahead > 0) this.#prefetched.coming(subscription, ahead)
    return ahead
  }

  /** A call noted by {@link ask} was answered. Returns requests that waited for it. */
  answered(subscription: Subscription, ahead: number): readonly FetchRequest[] {
    if (ahead <= 0) return []
    this.#prefetched.arrived(subscription, ahead)
    const expecting = this.#expecting.get(subscription.key) ?? []
    this.#expecting.delete(subscription.key)
    return expecting
  }

  /** Keeps what a call brought ahead, beside the jobs that it handed out. */
  keep(
    subscription: Subscription,
    handedOut: number,
    ahead: readonly Lease[],
    hasMore: boolean,
  ): void {
    if (!subscription.mayWait) return
    this.#prefetched.came(subscription, handedOut, ahead, hasMore, this.#parts.clock.nowMs())
    this.#watch()
  }

  get #mayClaimAhead(): boolean {
    return this.#parts.maxLosses === 0
  }

  #refill(subscription: Subscription, least: number): void {
    this.#toRefill.set(subscription.key, { subscription, least })
    this.#parts.refillNeeded()
  }

  /** Gives back prefetched jobs in time when workers stop asking. */
  #watch(): void {
    this.#stopWatching ??= this.#parts.clock.after(prefetchTtlMs, () => {
      this.#stopWatching = undefined
      const nowMs = this.#parts.clock.nowMs()
      this.#parts.giveBack(this.#prefetched.overdue(nowMs))
      this.#emptyCache.prune(nowMs)
      if (!this.#prefetched.isEmpty || !this.#emptyCache.isEmpty) this.#watch()
    })
  }
}
