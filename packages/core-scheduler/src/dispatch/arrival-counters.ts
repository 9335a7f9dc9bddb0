import type { Subscription } from '../model/subscription.ts'

interface Count {
  all: number
  byOthers: number
}

/** Counts possible arrivals of jobs, by the keys of idle workers. */
export class ArrivalCounters {
  readonly #counts = new Map<string, Count>()

  /** `own`: the jobs were submitted through this node. */
  add(idleKeys: Iterable<string>, own: boolean): void {
    for (const key of idleKeys) {
      const count = this.#counts.get(key)
      if (!count) this.#counts.set(key, { all: 1, byOthers: own ? 0 : 1 })
      else {
        count.all += 1
        if (!own) count.byOthers += 1
      }
    }
  }

  /** Grows with each arrival for a subscription: an equal figure means that nothing came. */
  of(subscription: Subscription): number {
    return this.#sum(subscription, ({ all }) => all)
  }

  /** As {@link of}, but without jobs of this node. */
  byOthers(subscription: Subscription): number {
    return this.#sum(subscription, ({ byOthers }) => byOthers)
  }

  #sum({ idleKeys }: Subscription, figure: (count: Count) => number): number {
    let sum = 0
    for (const key of idleKeys) {
      const count = this.#counts.get(key)
      if (count) sum += figure(count)
    }
    return sum
  }
}
