import { maxLanes } from '../model/lane-registry.ts'
import type { Subscription } from '../model/subscription.ts'

interface Count {
  all: number
  byOthers: number
}

/** Most counted keys: four for each lane there may be. */
const maxKeys = 4 * maxLanes

/** Counts possible arrivals of jobs, by the keys of idle workers. */
export class ArrivalCounters {
  readonly #counts = new Map<string, Count>()
  #onAdded: (idleKeys: readonly string[], own: boolean) => void = () => undefined
  /** The count of all other keys: no forgotten one was higher, so that no figure goes back. */
  #floor: Count = { all: 0, byOthers: 0 }

  /** Counted keys. */
  get size(): number {
    return this.#counts.size
  }

  /** Calls back for each arrival. */
  onAdded(callback: (idleKeys: readonly string[], own: boolean) => void): void {
    this.#onAdded = callback
  }

  /** `own`: the jobs were submitted through this node. */
  add(idleKeys: readonly string[], own: boolean): void {
    this.#onAdded(idleKeys, own)
    for (const key of idleKeys) {
      const count = this.#counts.get(key)
      if (!count) this.#begin(key, own)
      else {
        count.all += 1
        if (!own) count.byOthers += 1
      }
    }
  }

  /** The keys are no worker's and no lane's any more. */
  forget(idleKeys: Iterable<string>): void {
    for (const key of idleKeys) {
      const count = this.#counts.get(key)
      if (!count) continue
      this.#floor = higherOf(this.#floor, count)
      this.#counts.delete(key)
    }
  }

  #begin(key: string, own: boolean): void {
    if (this.#counts.size >= maxKeys) this.forget([...this.#counts.keys()])
    const { all, byOthers } = this.#floor
    this.#counts.set(key, { all: all + 1, byOthers: byOthers + (own ? 0 : 1) })
  }

  /** Grows with each arrival for a subscription: an equal figure means that nothing came. */
  of(subscription: Subscription): number {
    return this.#sum(subscription, ({ all }) => all)
  }

  /** As {@link of}, but without jobs of this node. */
  byOthers(subscription: Subscription): number {
    return this.#sum(subscription, ({ byOthers }) => byOthers)
  }

  /** True if something may have come for it since its lanes became known. */
  hasCounted({ idleKeys }: Subscription): boolean {
    return idleKeys.some((key) => this.#counts.has(key))
  }

  #sum({ idleKeys }: Subscription, figure: (count: Count) => number): number {
    let sum = 0
    for (const key of idleKeys) sum += figure(this.#counts.get(key) ?? this.#floor)
    return sum
  }
}

function higherOf(one: Count, other: Count): Count {
  return {
    all: Math.max(one.all, other.all),
    byOthers: Math.max(one.byOthers, other.byOthers),
  }
}
