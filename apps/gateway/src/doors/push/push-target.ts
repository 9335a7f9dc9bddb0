import type {
  Assignment,
  Clock,
  Delivery,
  FailureReport,
  Lease,
  Scheduler,
  Settlement,
  Subscription,
  WorkerIdentity,
} from '@crossgear/core-scheduler'
import type { PushRoute } from '../../config/push-route.ts'
import { jidOf } from '../faktory/jids.ts'
import type { Handles } from '../gearman/handles.ts'
import { shownUnique } from '../gearman/translate.ts'
import type { Logger } from '../../config/log/logger.ts'
import { hostOf, Poster } from '../outgoing/poster.ts'
import { type BreakerState, CircuitBreaker } from './circuit-breaker.ts'
import { jobHeaders } from './job-headers.ts'
import { PushSlot, type SlotOwner } from './push-slot.ts'
import { type Verdict, verdictOn, verdictWithout } from './verdict.ts'

/** Inputs of all targets. */
export interface TargetParts {
  readonly scheduler: Scheduler
  readonly handles: Handles
  readonly clock: Clock
  /** Milliseconds since 1970. */
  readonly wallNowMs: () => number
  readonly log: Logger
  /** The program and its version, for the target. */
  readonly agent: string
  /** The `traceparent` of a run. */
  readonly traceOf: (job: Lease) => string | undefined
  readonly onError: (error: unknown) => void
}

/** Ends of a function's requests, and their bytes; `returned`: the job went back when the gateway stopped. */
export interface PushCounts {
  readonly ends: Record<'done' | 'failed' | 'busy' | 'returned', number>
  bytesIn: number
  bytesOut: number
}

/** The target has answered and does not repeat it: an outcome that the store refuses is sent again. */
const repeated: Settlement = {
  isRepeated: true,
  settled: () => undefined,
  refused: () => undefined,
}

/** A target that does the jobs of a function in place of workers, as a worker of this node. */
export class PushTarget implements SlotOwner {
  readonly fn: string
  readonly scheduler: Scheduler
  readonly subscription: Subscription
  readonly worker: WorkerIdentity
  readonly #parts: TargetParts
  readonly #counts: PushCounts
  #route: PushRoute
  #poster: Poster
  readonly #breaker: CircuitBreaker
  readonly #slots: PushSlot[] = []
  /** The one that asks while the breaker is half open. */
  #probe: PushSlot | undefined
  readonly #running = new Map<
    Assignment,
    { readonly abort: () => void; readonly end: Promise<void> }
  >()
  #isStopped = false
  #lastReason = ''

  /** `name`: among the workers of this node. */
  constructor(name: string, fn: string, route: PushRoute, parts: TargetParts, counts: PushCounts) {
    this.fn = fn
    this.#parts = parts
    this.#counts = counts
    this.scheduler = parts.scheduler
    this.subscription = parts.scheduler.namedSubscription([{ fn }])
    this.worker = { name, isShared: false }
    this.#route = route
    this.#poster = new Poster(route)
    this.#breaker = new CircuitBreaker(route, parts.clock, (before) => this.#changed(before))
    this.scheduler.countNamed(fn, 1)
    this.#fill()
  }

  get route(): PushRoute {
    return this.#route
  }

  get host(): string {
    return hostOf(this.#route)
  }

  get state(): BreakerState {
    return this.#breaker.state
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** The jobs of the target, the oldest first. */
  get jobs(): ReadonlyMap<Assignment, unknown> {
    return this.#running
  }

  /** For requests from now on; those under way go on. */
  configure(route: PushRoute): void {
    this.#route = route
    this.#poster.close()
    this.#poster = new Poster(route)
    this.#breaker.configure(route)
    for (const slot of this.#slots) if (slot.number >= route.concurrency) slot.park()
    this.#fill()
  }

  /** Takes no more jobs. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    for (const slot of this.#slots) slot.park()
    this.#breaker.stop()
    this.#poster.close()
    this.scheduler.countNamed(this.fn, -1)
  }

  /** Gives back the jobs whose requests are under way. */
  async close(): Promise<void> {
    this.stop()
    for (const { abort } of this.#running.values()) abort()
    await this.idle()
  }

  /** Resolves when the requests under way have ended. */
  async idle(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ end }) => end))
  }

  admits(slot: PushSlot): boolean {
    if (this.#isStopped || slot.number >= this.#route.concurrency) return false
    if (this.#breaker.state === 'half-open') this.#probe ??= slot
    return this.#breaker.state === 'closed' || this.#probe === slot
  }

  async run(delivery: Delivery): Promise<void> {
    const closing = new AbortController()
    const end = this.#run(delivery, closing.signal).catch((error: unknown) => {
      // Another program changed its hash.
      this.#parts.onError(error)
      this.scheduler.release(delivery, true)
    })
    this.#running.set(delivery, { abort: () => closing.abort(), end })
    await end
    this.#running.delete(delivery)
  }

  failed(error: unknown): void {
    this.#parts.onError(error)
  }

  /** As many slots as may run; those that wait for nothing ask for jobs. */
  #fill(): void {
    while (this.#slots.length < this.#route.concurrency)
      this.#slots.push(new PushSlot(this.#slots.length, this))
    for (const slot of this.#slots) if (slot.isParked) slot.next()
  }

  async #run(delivery: Delivery, closing: AbortSignal): Promise<void> {
    const verdict = await this.#ask(delivery.job, closing)
    if (closing.aborted && verdict.kind !== 'done') {
      this.#counts.ends.returned += 1
      this.scheduler.release(delivery, false)
      return
    }
    this.#counts.ends[verdict.kind] += 1
    if (verdict.kind === 'done') {
      this.scheduler.complete(delivery, verdict.output, repeated)
      this.#breaker.answered()
    } else if (verdict.kind === 'busy') {
      this.#lastReason = verdict.reason
      this.#breaker.rest(verdict.waitMs)
      this.scheduler.release(delivery, false)
    } else this.#fail(delivery, verdict.report, verdict.isOfTarget)
  }

  #fail(delivery: Delivery, report: FailureReport, isOfTarget: boolean): void {
    this.#lastReason = report.message
    if (isOfTarget) this.#breaker.failed()
    else this.#breaker.answered()
    this.scheduler.fail(delivery, report, repeated)
  }

  /** Posts the job and waits for the answer; the job's lease lasts as long as this node. */
  async #ask(job: Lease, closing: AbortSignal): Promise<Verdict> {
    const { scheduler, handles, clock, wallNowMs, agent, traceOf } = this.#parts
    const { timeoutMs, contentType, maxAnswerBytes, restMs } = this.#route
    const { registry } = scheduler
    const request = new AbortController()
    const stopTimer = clock.after(timeoutMs, () =>
      request.abort(new Error(`none in ${timeoutMs / 1000} s`)),
    )
    closing.addEventListener('abort', () => request.abort())
    try {
      const headers = {
        'Content-Type': contentType,
        'User-Agent': agent,
        ...jobHeaders(job, registry.names, {
          handle: handles.of(job),
          jid: jidOf(job, registry),
          unique: shownUnique(job.unique),
          trace: traceOf(job),
        }),
      }
      this.#counts.bytesOut += job.input.length
      const { signal } = request
      const nowMs = wallNowMs()
      const answer = await this.#poster.post(job.input, {
        headers,
        signal,
        nowMs,
        maxBytes: maxAnswerBytes,
      })
      this.#counts.bytesIn += answer.body.length
      return verdictOn(answer, restMs, wallNowMs())
    } catch (error) {
      return verdictWithout(request.signal.aborted ? request.signal.reason : error)
    } finally {
      stopTimer()
    }
  }

  /** Rests are logged once, until the target is well again. */
  #changed(before: BreakerState): void {
    const { log } = this.#parts
    const { state } = this.#breaker
    const of = { function: this.fn, host: this.host }
    this.#probe = undefined
    if (state === 'open') {
      for (const slot of this.#slots) slot.park()
      if (before === 'closed')
        log.warn(of, `The push target of ${this.fn} rests (${this.#lastReason}).`)
      return
    }
    if (state === 'closed') log.info(of, `The push target of ${this.fn} takes jobs again.`)
    for (const slot of this.#slots) if (slot.isParked) slot.next()
  }
}
