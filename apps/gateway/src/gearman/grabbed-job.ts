import type {
  FetchRequest,
  Delivery,
  Subscription,
  Lease,
  WorkerIdentity,
} from '@crossgear/core-scheduler'
import { encodeResponse, NO_JOB } from '@crossgear/gearman-codec'
import type { Place } from '../net/places.ts'
import type { Session } from './session.ts'
import { shownUnique, untilNul } from './translate.ts'

/** A job as one of the three JOB_ASSIGN packets. */
export type AssignForm = (handle: string, fn: string, job: Lease) => Buffer

/** `JOB_ASSIGN` handle, function, data. */
export const assignPlain: AssignForm = (handle, fn, job) =>
  encodeResponse('JOB_ASSIGN', handle, fn, job.input)

/** `JOB_ASSIGN_UNIQ` handle, function, unique, data. */
export const assignWithUnique: AssignForm = (handle, fn, job) =>
  encodeResponse('JOB_ASSIGN_UNIQ', handle, fn, shownUnique(job.unique), job.input)

/** `JOB_ASSIGN_ALL` handle, function, unique, reducer, data; the form before without a reducer. */
export const assignWithReducer: AssignForm = (handle, fn, job) => {
  const { unique, reducer, input } = job
  if (!reducer?.length) return assignWithUnique(handle, fn, job)
  const args = [handle, fn, shownUnique(unique), untilNul(reducer), input]
  return encodeResponse('JOB_ASSIGN_ALL', ...args)
}

/** A worker's request for a job, until it is answered. */
export class GrabbedJob implements FetchRequest {
  readonly subscription: Subscription
  readonly isPipelined: boolean
  readonly #session: Session
  readonly #form: AssignForm
  readonly #place: Place
  /** The scheduler answers before {@link ask} returns: it has not asked the store. */
  #isAtHand = false

  constructor(session: Session, form: AssignForm, place: Place, isPipelined: boolean) {
    this.#session = session
    this.#form = form
    this.#place = place
    this.isPipelined = isPipelined
    this.subscription = session.worker.subscription
  }

  ask(): void {
    this.#isAtHand = true
    this.#session.scheduler.claim(this)
    this.#isAtHand = false
  }

  get worker(): WorkerIdentity {
    return this.#session.asWorker
  }

  get gone(): boolean {
    return this.#session.gone
  }

  assigned(assignment: Delivery): void {
    const { worker, context, scheduler } = this.#session
    const { job } = assignment
    const ability = worker.abilityFor(job.lane)
    const handle = context.handles.of(job)
    if (!ability || handle === undefined) {
      scheduler.release(assignment, false)
      this.onEmpty()
      return
    }
    worker.hold(handle, assignment, ability)
    this.#answer(this.#form(handle, ability.fn, job))
  }

  onEmpty(): void {
    this.#answer(NO_JOB)
  }

  /** No job as far as the worker is concerned: it sleeps, and is woken when the store is back. */
  refused(): void {
    this.onEmpty()
  }

  #answer(bytes: Uint8Array): void {
    if (this.#isAtHand) this.#place.fillAtHand(bytes)
    else this.#place.fill(bytes)
  }
}
