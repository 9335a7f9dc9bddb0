import type { Reporting, Settled, Settlement } from '@crossgear/core-scheduler'
import { encodeError, type ErrorPacketKey } from '@crossgear/gearman-codec'
import type { Place } from '../net/peer.ts'
import type { Session } from './session.ts'
import type { HeldJob } from './worker-side.ts'

/** What a worker hears of its result: nothing, unless the job was no longer its. */
export class ResultReply implements Settlement {
  readonly #session: Session
  readonly #handle: string
  readonly #held: HeldJob
  readonly #place: Place
  readonly #fault: ErrorPacketKey

  constructor(session: Session, handle: string, held: HeldJob, fault: ErrorPacketKey) {
    this.#session = session
    this.#handle = handle
    this.#held = held
    this.#place = session.peer.reserve()
    this.#fault = fault
  }

  settled(result: Settled): void {
    this.#place.fill(result === 'unknown' ? encodeError(this.#fault) : undefined)
  }

  /** The result is not stored: the job stays the worker's, which may send it again. */
  refused(): void {
    const { worker, gone, scheduler } = this.#session
    if (gone) scheduler.release(this.#held.assignment, true)
    else worker.hold(this.#handle, this.#held)
    this.#place.fill(encodeError('QUEUE_FAILED'))
  }
}

/** What a worker hears of data, a warning or progress: nothing, unless the job was not its. */
export class ReportReply implements Reporting {
  readonly #place: Place
  readonly #fault: ErrorPacketKey

  constructor(session: Session, fault: ErrorPacketKey) {
    this.#place = session.peer.reserve()
    this.#fault = fault
  }

  reported(known: boolean): void {
    this.#place.fill(known ? undefined : encodeError(this.#fault))
  }

  refused(): void {
    this.#place.fill(encodeError('QUEUE_FAILED'))
  }
}
