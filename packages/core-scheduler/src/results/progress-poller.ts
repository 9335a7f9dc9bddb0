import type { Waiters } from './waiters.ts'

/** Jobs per poll; the rest wait for the next one. */
const maxLookedAt = 500

/**
 * Jobs with waiters that a native worker may run. Native progress is written without an event, so
 * these jobs are polled.
 */
export class ProgressPoller {
  readonly #waiters: Waiters
  readonly #byLane = new Map<string, Set<number>>()

  constructor(waiters: Waiters) {
    this.#waiters = waiters
  }

  /** A native worker may run the job: only a poll can tell. */
  add(lane: string, id: number): void {
    const ids = this.#byLane.get(lane)
    if (ids) ids.add(id)
    else this.#byLane.set(lane, new Set([id]))
  }

  /** No native worker runs the job. */
  remove(lane: string, id: number): void {
    const ids = this.#byLane.get(lane)
    if (ids?.delete(id) && ids.size === 0) this.#byLane.delete(lane)
  }

  /** Jobs due for a poll in each lane, while clients wait for them. */
  *next(): Iterable<readonly [string, readonly number[]]> {
    for (const [lane, ids] of [...this.#byLane]) {
      const looked: number[] = []
      for (const id of ids) {
        if (!this.#waiters.has(lane, id)) this.remove(lane, id)
        else if (looked.push(id) >= maxLookedAt) break
      }
      // Goes to the end of the line.
      for (const id of looked) {
        ids.delete(id)
        ids.add(id)
      }
      if (looked.length > 0) yield [lane, looked]
    }
  }
}
