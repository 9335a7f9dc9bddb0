/** Jobs looked at in one go; the rest have the next one. */
const maxLookedAt = 500

interface Parts {
  readonly isWaitedFor: (lane: string, id: number) => boolean
  /** Reads jobs and tells those who wait for them what is new. */
  readonly look: (lane: string, ids: readonly number[]) => Promise<void>
}

/**
 * The jobs that somebody waits for and that a native worker may run. Its progress is written without a
 * word, so these jobs are looked at, and no others.
 */
export class ProgressPoller {
  readonly #parts: Parts
  readonly #byLane = new Map<string, Set<number>>()

  constructor(parts: Parts) {
    this.#parts = parts
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

  async look(): Promise<void> {
    for (const [lane, ids] of [...this.#byLane]) {
      const looked: number[] = []
      for (const id of ids) {
        if (!this.#parts.isWaitedFor(lane, id)) this.remove(lane, id)
        else if (looked.push(id) >= maxLookedAt) break
      }
      // The last in line next time.
      for (const id of looked) {
        ids.delete(id)
        ids.add(id)
      }
      if (looked.length > 0) await this.#parts.look(lane, looked)
    }
  }
}
