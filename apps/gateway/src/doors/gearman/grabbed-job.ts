import type {
  StoreError,
  Ability,
  Assignment,
  Delivery,
  FetchRequest,
  Lease,
  Leased,
  Reporting,
  Settled,
  Settlement,
  Subscription,
  Waiter,
  WorkerIdentity,
} from '@crossgear/core-scheduler'
import { encodeResponse, type ErrorPacketKey, noJob } from '@crossgear/gearman-codec'
import type { ReplySlot } from '../net/reply-slots.ts'
import type { SideSession } from './side-session.ts'
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

/** A request for a job, and the place of its answer. */
export interface Grab {
  readonly form: AssignForm
  readonly slot: ReplySlot
}

/** The worker side of a connection, as its requests use it. */
export interface Grabber {
  readonly subscription: Subscription
  /** The ability for a lane's job; undefined if given up meanwhile. */
  abilityFor(lane: string): Ability | undefined
  /** Gives the worker a job of this node. Its lease begins now. */
  hold(handle: string, assignment: Assignment, ability: Ability, isMistaken: boolean): void
  /** The request has got its answer. */
  answered(request: GrabbedJob): void
}

/** A worker's request for a job, until it is answered. */
export class GrabbedJob implements FetchRequest {
  readonly subscription: Subscription
  readonly isPipelined: boolean
  readonly #session: SideSession
  readonly #grabber: Grabber
  readonly #grab: Grab
  /** The scheduler answered before {@link ask} returned, without asking the store. */
  #isAtHand = false
  #isWithdrawn = false
  /** The worker may have taken an ERROR for its answer. */
  isMistaken = false

  constructor(session: SideSession, grabber: Grabber, grab: Grab, isPipelined: boolean) {
    this.#session = session
    this.#grabber = grabber
    this.#grab = grab
    this.isPipelined = isPipelined
    this.subscription = grabber.subscription
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
    return this.#session.gone || this.#isWithdrawn
  }

  /** The worker does not wait for it any more: a job that comes all the same goes back. */
  withdraw(): void {
    this.#isWithdrawn = true
    if (this.isMistaken) this.#answer()
    else this.onEmpty()
  }

  assigned(assignment: Delivery): void {
    const { context, scheduler } = this.#session
    const { job } = assignment
    const ability = this.#grabber.abilityFor(job.lane)
    const handle = context.handles.of(job)
    if (!ability || handle === undefined) {
      scheduler.release(assignment, false)
      this.onEmpty()
      return
    }
    this.#grabber.hold(handle, assignment, ability, this.isMistaken)
    this.#answer(this.#grab.form(handle, ability.fn, job))
  }

  onEmpty(): void {
    this.#answer(noJob)
  }

  /** The worker sees no job: it sleeps, and is woken when the store is back. */
  refused(problem: StoreError): void {
    this.#session.storeRefused(problem)
    this.onEmpty()
  }

  failed(error: unknown): void {
    this.#session.connection.fail(error)
  }

  #answer(bytes?: Uint8Array): void {
    this.#grabber.answered(this)
    if (bytes && this.#isAtHand) this.#grab.slot.fillAtHand(bytes)
    else this.#grab.slot.fill(bytes)
  }
}

/** A job that a worker holds. */
export class HeldJob implements Leased {
  readonly handle: string
  readonly assignment: Assignment
  /** The ability under which it was taken. */
  readonly fn: string
  /** Length of the lease, milliseconds; absent: while the worker is connected. */
  leaseMs: number | undefined
  /** The worker may have taken JOB_ASSIGN for something that nobody asked for, and dropped it. */
  isMistaken: boolean
  readonly #leaseExpired: (held: HeldJob) => void

  constructor(
    handle: string,
    assignment: Assignment,
    { fn, leaseMs }: { readonly fn: string; readonly leaseMs?: number },
    leaseExpired: (held: HeldJob) => void,
    isMistaken = false,
  ) {
    this.isMistaken = isMistaken
    this.handle = handle
    this.assignment = assignment
    this.fn = fn
    this.leaseMs = shorter(leaseMs, ownLeaseMs(assignment))
    this.#leaseExpired = leaseExpired
  }

  leaseEnded(): void {
    this.#leaseExpired(this)
  }

  /** True if its worker keeps to the job's own time, whatever it does. */
  get isTimed(): boolean {
    return ownLeaseMs(this.assignment) !== undefined
  }
}

/** The time that a route gives to the run of a job, milliseconds. */
function ownLeaseMs({ job }: Assignment): number | undefined {
  return job.isTimed && job.reserveForSeconds ? 1000 * job.reserveForSeconds : undefined
}

function shorter(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : Math.min(one, other ?? one)
}

/**
 * The reply to a worker about its job: none, unless it no longer has the job. A job without a lease time is rarely lost, so a
 * job at hand does not wait for this reply, unless the worker may be the client that gets the result.
 */
class SilentReply {
  protected readonly session: SideSession
  protected readonly slot: ReplySlot
  protected readonly fault: ErrorPacketKey
  /** The connection may be owed a packet of this job: later answers do not overtake it. */
  protected readonly mayBeOwed: boolean

  constructor(session: SideSession, held: HeldJob, fault: ErrorPacketKey) {
    this.session = session
    this.mayBeOwed = session.awaitsJobs
    this.slot = session.connection.reserveSilent(held.leaseMs === undefined && !this.mayBeOwed)
    this.fault = fault
  }
}

/** The reply to a job's result. */
export class ResultReply extends SilentReply implements Settlement {
  /** Stock workers send a result once. */
  readonly isRepeated = true

  /** Workers are promised nothing about disks and replicas: the next job does not wait for them. Clients are. */
  stored(result: Settled): void {
    if (!this.mayBeOwed) this.settled(result)
  }

  settled(result: Settled): void {
    if (this.slot.bytes) return
    const isLost = result === 'unknown' && !this.slot.wasPassed
    this.slot.fill(isLost ? this.session.unasked(this.fault) : undefined)
  }

  /** The store is away: the worker goes on, and hears nothing of it. */
  refused(problem: StoreError): void {
    this.session.storeRefused(problem)
    this.slot.fill()
  }
}

/** The reply to data, a warning or progress: none, unless the worker does not have the job. */
export class ReportReply extends SilentReply implements Reporting {
  readonly #bytes: number

  /** `bytes`: of the data. */
  constructor(session: SideSession, held: HeldJob, fault: ErrorPacketKey, bytes: number) {
    super(session, held, fault)
    this.#bytes = bytes
  }

  /** No more is read of a worker than its clients read. */
  awaits(reader: Waiter): void {
    reader.whenRead?.(this.session.connection.countUnread(this.#bytes))
  }

  reported(known: boolean): void {
    this.slot.fill(known || this.slot.wasPassed ? undefined : this.session.unasked(this.fault))
  }

  /** The store is away: what it said is lost, and the log says so. */
  refused(problem: StoreError): void {
    this.session.storeRefused(problem)
    this.slot.fill()
  }
}
