import {
  deathLane,
  functionFault,
  LaneNameError,
  StoreError,
  type LaneNames,
  type Scheduler,
  type Submission,
  type Subscription,
} from '@crossgear/core-scheduler'
import { FwpError, type FwpJob, isQueueName, parseFetch } from '@crossgear/fwp-codec'

/** The lane of a pushed job. Throws for a job type that no other door could name. */
export function laneFor({ jobtype, queue }: FwpJob, names: LaneNames): string {
  checkJobtype(jobtype)
  return names.lane(jobtype, queue)
}

/** Throws for a job type that no other door could name. */
export function checkJobtype(jobtype: string): void {
  const fault = functionFault(jobtype)
  if (fault === 'controls') {
    throw new FwpError('INVALID_JOBTYPE', 'jobtype must not contain control characters')
  }
  if (fault) throw new FwpError('INVALID_JOBTYPE', new LaneNameError(fault).message)
}

/**
 * Submits jobs, and opens a lane before its first one: jobs of Faktory producers are for Faktory
 * consumers, whoever else works on the function.
 */
export class OpenLanes {
  readonly #scheduler: Scheduler
  /** False for a lane that an address may not bring into being. */
  readonly #admits: (lane: string, address: string) => boolean
  readonly #open = new Set<string>()
  /** Lanes that the store may have lost, until they are open again. */
  readonly #lost = new Set<string>()
  readonly #opening = new Map<string, Promise<void>>()

  constructor(scheduler: Scheduler, admits: (lane: string, address: string) => boolean) {
    this.#scheduler = scheduler
    this.#admits = admits
  }

  /** `address`: the producer's. */
  submit(lane: string, submission: Submission, address: string): void {
    const { onDeath } = submission.job
    // If it cannot be opened, dead jobs are reported there all the same.
    if (onDeath !== undefined) void this.open(deathLane(onDeath), address).catch(() => undefined)
    if (this.#open.has(lane)) this.#scheduler.submit(lane, submission)
    else if (this.#admits(lane, address)) {
      this.#scheduler.submit(lane, submission, this.#openNow(lane))
    } else submission.refused(new NotAdmitted())
  }

  /** An operator closed the lane. */
  forget(lane: string): void {
    this.#open.delete(lane)
    this.#lost.delete(lane)
  }

  /** The lane was dropped. One that has come again at once has a new number, as in a store that came back empty. */
  dropped(lane: string): void {
    if (!this.#open.delete(lane) && !this.#lost.has(lane)) return
    this.#lost.add(lane)
    queueMicrotask(() => {
      if (this.#scheduler.registry.numberOf(lane) === undefined) this.#lost.delete(lane)
    })
  }

  /** Opens all of them again: the store may have lost that. Throws a StoreError. */
  async openAgain(): Promise<void> {
    for (const lane of this.#open) this.#lost.add(lane)
    this.#open.clear()
    for (const lane of this.#lost) await this.#openNow(lane)
  }

  /** Settles when the lane is open. Throws a StoreError. */
  async open(lane: string, address: string): Promise<void> {
    if (this.#open.has(lane)) return
    if (!this.#admits(lane, address)) throw new NotAdmitted()
    await this.#openNow(lane)
  }

  #openNow(lane: string): Promise<void> {
    const pending = this.#opening.get(lane)
    if (pending) return pending
    const opening = this.#scheduler
      .openLane(lane)
      .then(() => this.#isOpen(lane))
      .finally(() => this.#opening.delete(lane))
    this.#opening.set(lane, opening)
    return opening
  }

  #isOpen(lane: string): void {
    this.#open.add(lane)
    this.#lost.delete(lane)
  }
}

/** A lane that an address may not bring into being. */
export class NotAdmitted extends StoreError {
  constructor() {
    super('TOO_MANY_LANES', 'no more new ones from your address')
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
