import type { Reporting, Settled, Settlement } from '@crossgear/core-scheduler'
import type { ErrorPacketKey } from '@crossgear/gearman-codec'
import type { Aside } from '../net/places.ts'
import type { Session } from './session.ts'
import type { HeldJob } from './worker-side.ts'

/**
 * What a worker hears of its result: nothing, unless the job was no longer its. Its next job does
 * not wait for that.
 */
export class ResultReply implements Settlement {
  readonly #session: Session
  readonly #handle: string
  readonly #held: HeldJob
  readonly #aside: Aside
  readonly #fault: ErrorPacketKey

  constructor(session: Session, handle: string, held: HeldJob, fault: ErrorPacketKey) {
    this.#session = session
    this.#handle = handle
    this.#held = held
    this.#aside = session.peer.aside()
    this.#fault = fault
  }

  settled(result: Settled): void {
    if (result === 'unknown') this.#session.sendError(this.#fault)
    this.#aside.end()
  }

  /** The result is not stored: the job stays the worker's, which may send it again. */
  refused(): void {
    const { worker, gone, scheduler } = this.#session
    if (gone) scheduler.release(this.#held.assignment, true)
    else worker.hold(this.#handle, this.#held)
    this.#session.sendError('QUEUE_FAILED')
    this.#aside.end()
  }
}

/** What a worker hears of data, a warning or progress: nothing, unless the job was not its. */
export class ReportReply implements Reporting {
  readonly #session: Session
  readonly #aside: Aside
  readonly #fault: ErrorPacketKey

  constructor(session: Session, fault: ErrorPacketKey) {
    this.#session = session
    this.#aside = session.peer.aside()
    this.#fault = fault
  }

  reported(known: boolean): void {
    if (!known) this.#session.sendError(this.#fault)
    this.#aside.end()
  }

  refused(): void {
    this.#session.sendError('QUEUE_FAILED')
    this.#aside.end()
  }
}
