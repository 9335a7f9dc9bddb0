import type { Waiters } from './waiters.ts'

/** Jobs looked at in one go; the rest have the next one. */
const maxLookedAt = 500

/**
 * The jobs that somebody waits for and that a native worker may run. Its progress is written without a
 * word, so these jobs are looked at, and no others.
 */
export class ProgressPoller {
  readonly #waiters: Waiters
  readonly #byLane = new Map<string, Set<number>>()

  constructor(waiters: Waiters) {
    this.#waiters = waiters
  }

  /** A native worker runs the job, or may: only a look at it tells. */
  add(lane: string, id: number): void {
    const ids = this.#byLane.get(lane)
    if (ids) ids.add(id)
    else this.#byLane.set(lane, new Set([id]))
  }

  /** The job is no native worker's. */
  remove(lane: string, id: number): void {
    const ids = this.#byLane.get(lane)
    if (ids?.delete(id) && ids.size === 0) this.#byLane.delete(lane)
  }

  /** Jobs due for a look in each lane, as long as somebody waits for them. */
  *next(): Iterable<readonly [string, readonly number[]]> {
    for (const [lane, ids] of [...this.#byLane]) {
      const looked: number[] = []
      for (const id of ids) {
        if (!this.#waiters.has(lane, id)) this.remove(lane, id)
        else if (looked.push(id) >= maxLookedAt) break
      }
      // The last in line next time.
      for (const id of looked) {
        ids.delete(id)
        ids.add(id)
      }
      if (looked.length > 0) yield [lane, looked]
    }
  }
}
