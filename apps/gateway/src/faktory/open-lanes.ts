import type { Scheduler, Submission } from '@crossgear/core-scheduler'

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
