import type { LaneNames, Scheduler, Submission, Subscription } from '@crossgear/core-scheduler'
import { FwpError, type FwpJob, isQueueName, parseFetch } from '@crossgear/fwp-codec'

/** Characters that the store's messages and the Gearman protocol use between names. */
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
 * Hands jobs in, and before the first one of a lane opens it: what Faktory producers push is for
 * Faktory consumers, whoever else works on the function.
 */
export class OpenLanes {
  readonly #scheduler: Scheduler
  readonly #open = new Set<string>()
  readonly #opening = new Map<string, Promise<void>>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  submit(lane: string, submission: Submission): void {
    this.#scheduler.submit(lane, submission, this.#open.has(lane) ? undefined : this.open(lane))
  }

  /** The store may have forgotten which lanes are open, or an operator has closed one. */
  forget(lane?: string): void {
    if (lane === undefined) this.#open.clear()
    else this.#open.delete(lane)
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

/** Different FETCH arguments that are remembered. Clients that shuffle their queues use many. */
const maxKept = 1_000
/** Longer ones are not. */
const maxKeptBytes = 4_096

/** The queues that a FETCH names, and the subscription in them. */
export interface Wanted {
  readonly queues: readonly string[]
  readonly subscription: Subscription
}

/** The subscriptions of all consumers, made once for those that want the same. */
export class Subscriptions {
  readonly #scheduler: Scheduler
  readonly #kept = new Map<string, Wanted>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /** `functions` limits the consumer, where its labels do. Throws for an argument that is wrong. */
  of(argument: Buffer, functions: ReadonlySet<string> | undefined): Wanted {
    const text = argument.toString('latin1')
    const key = functions ? `${text}\n${[...functions].sort().join('\n')}` : text
    const known = this.#kept.get(key)
    if (known) return known
    // Nothing can ever be queued under a name that no queue can have.
    const queues = parseFetch(argument).filter(isQueueName)
    const wanted = { queues, subscription: this.#scheduler.consumerSubscription(queues, functions) }
    if (key.length > maxKeptBytes) return wanted
    if (this.#kept.size >= maxKept) this.#kept.clear()
    this.#kept.set(key, wanted)
    return wanted
  }
}
