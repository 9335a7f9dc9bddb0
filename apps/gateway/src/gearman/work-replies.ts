import type { Reporting, Settled, Settlement } from '@crossgear/core-scheduler'
import type { ErrorPacketKey } from '@crossgear/gearman-codec'
import type { Place } from '../net/places.ts'
import type { HeldJob } from './held-job.ts'
import type { Session } from './session.ts'

/**
 * The reply to a result: none, unless the job was no longer its worker's. Only a job without a lease
 * is rarely lost while its worker lives: a job that is at hand for the worker does not wait for this.
 */
function placeOf(session: Session, held: HeldJob): Place {
  return session.peer.reserveSilent(held.leaseMs === undefined)
}

/** The reply to the result of a job. */
export class ResultReply implements Settlement {
  readonly #session: Session
  readonly #held: HeldJob
  readonly #place: Place
  readonly #fault: ErrorPacketKey

  constructor(session: Session, held: HeldJob, fault: ErrorPacketKey) {
    this.#session = session
    this.#held = held
    this.#place = placeOf(session, held)
    this.#fault = fault
  }

  /** A worker is promised nothing about disks and replicas: its next job does not wait for them. */
  stored(result: Settled): void {
    this.settled(result)
  }

  settled(result: Settled): void {
    if (this.#place.bytes) return
    const isLost = result === 'unknown' && !this.#place.wasPassed
    this.#place.fill(isLost ? this.#session.refusal(this.#fault) : undefined)
  }

  /** The result is not stored: the job stays the worker's, which may send it again. */
  refused(): void {
    const { worker, gone, scheduler } = this.#session
    if (this.#place.wasPassed || gone) {
      scheduler.release(this.#held.assignment, gone)
      this.#place.fill()
      return
    }
    worker.keep(this.#held)
    this.#place.fill(this.#session.refusal('QUEUE_FAILED'))
  }
}

/** The reply to data, a warning or progress: none, unless the job was not its worker's. */
export class ReportReply implements Reporting {
  readonly #session: Session
  readonly #place: Place
  readonly #fault: ErrorPacketKey

  constructor(session: Session, held: HeldJob, fault: ErrorPacketKey) {
    this.#session = session
    this.#place = placeOf(session, held)
    this.#fault = fault
  }

  reported(known: boolean): void {
    this.#place.fill(
      known || this.#place.wasPassed ? undefined : this.#session.refusal(this.#fault),
    )
  }

  refused(): void {
    this.#place.fill(this.#place.wasPassed ? undefined : this.#session.refusal('QUEUE_FAILED'))
  }
}
