import type { JobEvent, JobRef, NewJob, Submitted } from '../model/job.ts'
import type { StoreError } from '../model/store-errors.ts'
import type { Submission, Waiter } from '../model/requests.ts'
import type { Waiters } from '../node/waiters.ts'

export interface PendingAckParts {
  readonly waiters: Waiters
  readonly abandon: (lane: string, ids: readonly number[]) => void
}

/**
 * Holds back the answer to a submission until its job is as durable as was asked for: keeps the
 * events that the client is owed.
 */
export class PendingAck implements Submission, Waiter {
  readonly waiter?: Waiter
  readonly #real: Submission
  readonly #lane: string
  readonly #events: (readonly [JobRef, JobEvent])[] = []
  #result: Submitted | undefined
  #laneNumber = 0

  constructor(real: Submission, lane: string) {
    this.#real = real
    this.#lane = lane
    if (real.waiter) this.waiter = this
  }

  get job(): NewJob {
    return this.#real.job
  }

  get gone(): boolean {
    return this.#real.gone
  }

  submitted(result: Submitted, laneNumber: number): void {
    this.#result = result
    this.#laneNumber = laneNumber
  }

  refused(error: StoreError): void {
    this.#real.refused(error)
  }

  onEvent(ref: JobRef, event: JobEvent): void {
    this.#events.push([ref, event])
  }

  /** The job is durable: the client gets its answer and the events so far. */
  release(parts: PendingAckParts): void {
    const { waiter, gone } = this.#real
    const result = this.#result ?? { kind: 'full' }
    if (gone) this.#leave(parts)
    else if (waiter && 'id' in result) {
      parts.waiters.replace(this.#lane, result.id, this, waiter)
    }
    this.#real.submitted(result, this.#laneNumber)
    if (!gone) for (const [ref, event] of this.#events) waiter?.onEvent(ref, event)
  }

  /** The job may not be durable: the client gets an error and no longer waits. */
  refuse(error: StoreError, parts: PendingAckParts): void {
    this.#leave(parts)
    this.#real.refused(error)
  }

  #leave({ waiters, abandon }: PendingAckParts): void {
    const result = this.#result
    if (!result || !('id' in result)) return
    if (waiters.remove(this.#lane, result.id, this)) abandon(this.#lane, [result.id])
  }
}
