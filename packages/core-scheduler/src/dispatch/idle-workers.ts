import type { Subscription } from '../model/subscription.ts'

/** A worker that has nothing to do and wants to hear when that changes. */
export interface IdleWorker {
  readonly subscription: Subscription
  /** There may be a job. The worker is idle no more until it sleeps again. */
  wake(): void
}

/** Who sleeps under one key, each with its place in the line; in the order of falling asleep. */
interface Sleepers {
  /** Woken for nothing and asleep again, with the place they had: before all others. */
  readonly returned: Map<IdleWorker, number>
  readonly others: Map<IdleWorker, number>
}

/** Idle workers in the order in which they fell asleep, found by what they can do. */
export class IdleWorkers {
  readonly #byKey = new Map<string, Sleepers>()
  readonly #asleep = new Map<
    IdleWorker,
    { readonly subscription: Subscription; readonly since: number }
  >()
  readonly #places = new WeakMap<IdleWorker, number>()
  #sequence = 0
  #falls = 0
  #isClosed = false

  /** Grows whenever a worker falls asleep. */
  get falls(): number {
    return this.#falls
  }

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

  /** Puts a worker at the end of the line; with `again` where it stood before it was woken. */
  add(worker: IdleWorker, again = false): void {
    this.remove(worker)
    if (this.#isClosed) return
    const { subscription } = worker
    const before = again ? this.#places.get(worker) : undefined
    const place = before ?? (this.#sequence += 1)
    this.#places.set(worker, place)
    this.#falls += 1
    this.#asleep.set(worker, { subscription, since: this.#falls })
    for (const key of subscription.idleKeys) {
      let sleepers = this.#byKey.get(key)
      if (!sleepers) this.#byKey.set(key, (sleepers = { returned: new Map(), others: new Map() }))
      ;(before === undefined ? sleepers.others : sleepers.returned).set(worker, place)
    }
  }

  /** Nobody is woken any more, whoever falls asleep. */
  close(): void {
    this.#isClosed = true
    this.#asleep.clear()
    this.#byKey.clear()
  }

  remove(worker: IdleWorker): void {
    const asleep = this.#asleep.get(worker)
    if (!asleep) return
    this.#asleep.delete(worker)
    for (const key of asleep.subscription.idleKeys) {
      const sleepers = this.#byKey.get(key)
      if (!sleepers) continue
      if (!sleepers.returned.delete(worker)) sleepers.others.delete(worker)
      if (sleepers.returned.size + sleepers.others.size === 0) this.#byKey.delete(key)
    }
  }

  /** Who would be woken. */
  next(keys: readonly string[]): IdleWorker | undefined {
    return this.#longestAsleep(keys, Infinity)
  }

  /**
   * Wakes up to `count` workers that sleep under any of the keys, the longest asleep first; with
   * `until` only those that slept when {@link falls} was that.
   */
  wake(keys: readonly string[], count: number, until = Infinity): number {
    let woken = 0
    while (woken < count) {
      const worker = this.#longestAsleep(keys, until)
      if (!worker) break
      this.remove(worker)
      worker.wake()
      woken += 1
    }
    return woken
  }

  #longestAsleep(keys: readonly string[], until: number): IdleWorker | undefined {
    let best: IdleWorker | undefined
    let bestPlace = Infinity
    for (const key of keys) {
      const sleepers = this.#byKey.get(key)
      if (!sleepers) continue
      const first = this.#first(sleepers.returned, until) ?? this.#first(sleepers.others, until)
      if (!first || first[1] >= bestPlace) continue
      ;[best, bestPlace] = first
    }
    return best
  }

  #first(line: ReadonlyMap<IdleWorker, number>, until: number): [IdleWorker, number] | undefined {
    const [first] = line
    return first && (this.#asleep.get(first[0])?.since ?? 0) <= until ? first : undefined
  }
}
