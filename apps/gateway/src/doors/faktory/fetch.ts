import type {
  Delivery,
  FetchRequest,
  IdleWorker,
  StoreError,
  Subscription,
  WorkerIdentity,
} from '@crossgear/core-scheduler'
import { bulk, error, nullBulk } from '@crossgear/fwp-codec'
import type { ReplySlot } from '../net/reply-slots.ts'
import { storeErrorReply } from './answers.ts'
import { jidOf } from './jids.ts'
import type { Session } from './session.ts'
import { jobText } from './translate.ts'

/** Most claims in a row for jobs that came during the one before. */
const maxClaimsInARow = 4

/**
 * A FETCH until its answer: claims, and if there is no job idles until one comes or the time is up.
 * One timer, armed when it first idles.
 */
export class Fetch implements FetchRequest, IdleWorker {
  readonly subscription: Subscription
  readonly #session: Session
  readonly #slot: ReplySlot
  #arrivals = 0
  #claims = 0
  #isClaiming = false
  #isDue = false
  #stopTimer: (() => void) | undefined

  /** `bytes`: memory of its queues' names. */
  constructor(session: Session, subscription: Subscription, bytes: number) {
    this.subscription = subscription
    this.#session = session
    this.#slot = session.reserve(bytes)
    session.fetches.add(this)
  }

  get worker(): WorkerIdentity {
    return this.#session.worker.identity
  }

  get gone(): boolean {
    return this.#session.hasEnded
  }

  start(): void {
    if (this.#session.mayFetch) this.#claim()
    else if (this.#session.hasEnded) this.#answer(nullBulk)
    else this.#armTimer()
  }

  assigned(delivery: Delivery): void {
    const { worker, context } = this.#session
    const { registry } = context.scheduler
    worker.held.hold(jidOf(delivery.job, registry), delivery)
    context.scheduler.holders.hold(worker.holder, delivery.job)
    const { wid, state, held } = worker
    if (state !== 'running') context.goingAway({ wid, how: state, jobs: held.size })
    let reply: Buffer
    try {
      reply = bulk(jobText(delivery.job, registry, context.payloadRuleOf))
    } catch (problem) {
      // Another program changed its hash. It fails when its lease ends, and ends up in the dead
      // set.
      reply = error(`a job cannot be shown: ${String(problem)}`)
    }
    this.#answer(reply)
  }

  onEmpty(): void {
    this.#isClaiming = false
    if (this.#isDue) {
      this.#answer(nullBulk)
      return
    }
    this.#armTimer()
    if (!this.#session.mayFetch) return
    const { scheduler } = this.#session.context
    const hasArrivals = scheduler.arrivals(this.subscription) !== this.#arrivals
    if (hasArrivals && this.#claims < maxClaimsInARow) this.#claim()
    else scheduler.addIdle(this, hasArrivals, true)
  }

  refused(problem: StoreError): void {
    this.#answer(storeErrorReply(this.#session, problem))
  }

  failed(problem: unknown): void {
    this.#session.fail(problem)
  }

  wake(): void {
    this.#claims = 0
    this.#claim()
  }

  withdraw(): void {
    this.#session.context.scheduler.removeIdle(this)
  }

  giveUp(): void {
    this.cancel()
    this.#answer(nullBulk)
  }

  cancel(): void {
    this.#stopTimer?.()
    this.#session.context.scheduler.removeIdle(this)
  }

  #claim(): void {
    const { scheduler } = this.#session.context
    this.#arrivals = scheduler.arrivals(this.subscription)
    this.#claims += 1
    this.#isClaiming = true
    scheduler.claim(this)
  }

  #armTimer(): void {
    const { clock, fetchBlocksMs } = this.#session.context
    this.#stopTimer ??= clock.after(fetchBlocksMs, () => this.#timeUp())
  }

  /** Waits for a claim in progress: its job may already be leased. */
  #timeUp(): void {
    this.#isDue = true
    if (this.#isClaiming) return
    this.#session.context.scheduler.removeIdle(this)
    this.#answer(nullBulk)
  }

  #answer(reply: Buffer): void {
    this.#stopTimer?.()
    this.#session.fetched(this)
    this.#slot.fill(reply)
  }
}
