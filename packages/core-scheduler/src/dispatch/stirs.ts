import type { Interest } from '../model/interest.ts'

interface Count {
  all: number
  byOthers: number
}

/** How often jobs may have come, by what idle workers sleep under. */
export class Stirs {
  readonly #counts = new Map<string, Count>()

  /** `own` where the jobs were submitted through this node. */
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

  /** Grows with each time for an interest: the same figure means nothing came. */
  of(interest: Interest): number {
    return this.#sum(interest, ({ all }) => all)
  }

  /** As {@link of}, but without jobs of this node. */
  byOthers(interest: Interest): number {
    return this.#sum(interest, ({ byOthers }) => byOthers)
  }

  #sum({ idleKeys }: Interest, figure: (count: Count) => number): number {
    let sum = 0
    for (const key of idleKeys) {
      const count = this.#counts.get(key)
      if (count) sum += figure(count)
    }
    return sum
  }
}
