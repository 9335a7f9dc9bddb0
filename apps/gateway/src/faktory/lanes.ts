import type { LaneNames, Scheduler, Submission, Subscription } from '@crossgear/core-scheduler'
import { FwpError, type FwpJob, isQueueName, parseFetch } from '@crossgear/fwp-codec'

/** Separators of the store's messages and the Gearman protocol. */
const forbidden = /[\0-\x1f\x7f]/

/** The lane of a pushed job. Throws for a job type that no other door could name. */
export function laneFor({ jobtype, queue }: FwpJob, names: LaneNames): string {
  checkJobtype(jobtype)
  return names.lane(jobtype, queue)
}

/** Throws for a job type that no other door could name. */
export function checkJobtype(jobtype: string): void {
  if (forbidden.test(jobtype)) {
    throw new FwpError('INVALID_JOBTYPE', 'jobtype must not contain control characters')
  }
}

/**
 * Submits jobs, and opens a lane before its first one: jobs of Faktory producers are for Faktory
 * consumers, whoever else works on the function.
 */
export class OpenLanes {
  readonly #scheduler: Scheduler
  readonly #open = new Set<string>()
  /** Lanes that the store may have lost, until they are open again. */
  readonly #lost = new Set<string>()
  readonly #opening = new Map<string, Promise<void>>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  submit(lane: string, submission: Submission): void {
    this.#scheduler.submit(lane, submission, this.#open.has(lane) ? undefined : this.open(lane))
  }

  /** An operator closed the lane. */
  forget(lane: string): void {
    this.#open.delete(lane)
    this.#lost.delete(lane)
  }

  /** Opens all of them again: the store may have lost that. Throws a StoreError. */
  async openAgain(): Promise<void> {
    for (const lane of this.#open) this.#lost.add(lane)
    this.#open.clear()
    for (const lane of this.#lost) {
      await this.open(lane)
      this.#lost.delete(lane)
    }
  }

  /** Settles when the lane is open. Throws a StoreError. */
  open(lane: string): Promise<void> {
    if (this.#open.has(lane)) return Promise.resolve()
    const pending = this.#opening.get(lane)
    if (pending) return pending
    const opening = this.#scheduler
      .openLane(lane)
      .then(() => void this.#open.add(lane))
      .finally(() => this.#opening.delete(lane))
    this.#opening.set(lane, opening)
    return opening
  }
}

/** Distinct FETCH arguments to remember. Clients that shuffle their queues use many. */
const maxKept = 1_000
/** Longer ones, and those with more queues, are not remembered. */
const maxKeptBytes = 4_096
const maxKeptQueues = 64

/** The queues of a FETCH, and the subscription to them. */
export interface Wanted {
  readonly queues: readonly string[]
  readonly subscription: Subscription
}

/** Subscriptions of all consumers; those that want the same share one. */
export class Subscriptions {
  readonly #scheduler: Scheduler
  readonly #kept = new Map<string, Wanted>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /** `functions`: limit from the consumer's labels. Throws for a wrong argument. */
  of(argument: Buffer, functions: ReadonlySet<string> | undefined): Wanted {
    const text = argument.toString('latin1')
    const key = functions ? `${text}\n${[...functions].sort().join('\n')}` : text
    const known = this.#kept.get(key)
    if (known) return known
    // Jobs can never be queued under an invalid name.
    const queues = parseFetch(argument).filter(isQueueName)
    const wanted = { queues, subscription: this.#scheduler.consumerSubscription(queues, functions) }
    if (key.length > maxKeptBytes || queues.length > maxKeptQueues) return wanted
    if (this.#kept.size >= maxKept) this.#kept.clear()
    this.#kept.set(key, wanted)
    return wanted
  }
}
