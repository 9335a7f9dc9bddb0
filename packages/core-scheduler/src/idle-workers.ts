import type { Interest } from './interest.ts'

/** A worker that has nothing to do and wants to hear when that changes. */
export interface IdleWorker {
  readonly interest: Interest
  /** There may be a job. The worker is idle no more until it sleeps again. */
  wake(): void
}

/** Idle workers in the order in which they fell asleep, found by what they can do. */
export class IdleWorkers {
  readonly #byKey = new Map<string, Map<IdleWorker, number>>()
  readonly #asleep = new Map<IdleWorker, Interest>()
  #sequence = 0

  get size(): number {
    return this.#asleep.size
  }

  has(worker: IdleWorker): boolean {
    return this.#asleep.has(worker)
  }

  /** Idle keys that somebody sleeps under. */
  keys(): Iterable<string> {
    return this.#byKey.keys()
  }

  hasConsumers(): boolean {
    for (const key of this.#byKey.keys()) if (key.startsWith('q')) return true
    return false
  }

  hasKey(key: string): boolean {
    return this.#byKey.has(key)
  }

  add(worker: IdleWorker): void {
    this.remove(worker)
    const { interest } = worker
    this.#asleep.set(worker, interest)
    this.#sequence += 1
    for (const key of interest.idleKeys) {
      const sleepers = this.#byKey.get(key)
      if (sleepers) sleepers.set(worker, this.#sequence)
      else this.#byKey.set(key, new Map([[worker, this.#sequence]]))
    }
  }

  remove(worker: IdleWorker): void {
    const interest = this.#asleep.get(worker)
    if (!interest) return
    this.#asleep.delete(worker)
    for (const key of interest.idleKeys) {
      const sleepers = this.#byKey.get(key)
      if (sleepers?.delete(worker) && sleepers.size === 0) this.#byKey.delete(key)
    }
  }

  /** Wakes up to `count` workers that sleep under any of the keys, the longest asleep first. */
  wake(keys: readonly string[], count: number): number {
    let woken = 0
    while (woken < count) {
      const worker = this.#longestAsleep(keys)
      if (!worker) break
      this.remove(worker)
      worker.wake()
      woken += 1
    }
    return woken
  }

  #longestAsleep(keys: readonly string[]): IdleWorker | undefined {
    let best: IdleWorker | undefined
    let bestSequence = Infinity
    for (const key of keys) {
      for (const [worker, sequence] of this.#byKey.get(key) ?? []) {
        if (sequence < bestSequence) {
          best = worker
          bestSequence = sequence
        }
        break
      }
    }
    return best
  }
}
