import type { Subscription } from '../model/subscription.ts'

/** How long an empty answer stays valid, milliseconds. */
const emptyTtlMs = 100

interface Emptiness {
  readonly arrivals: number
  readonly sinceMs: number
}

/**
 * Workers that were given the last job of their lanes ask again when it is done. They need not ask the
 * store as long as nothing has stirred in lanes of which it tells this node everything.
 */
export class EmptyCache {
  readonly #byKey = new Map<string, Emptiness>()

  get isEmpty(): boolean {
    return this.#byKey.size === 0
  }

  /** Nothing was left; `stirs` is what {@link ArrivalCounters.of} says now. */
  note({ key }: Subscription, arrivals: number, nowMs: number): void {
    this.#byKey.set(key, { arrivals, sinceMs: nowMs })
  }

  holds({ key }: Subscription, arrivals: number, nowMs: number): boolean {
    const known = this.#byKey.get(key)
    return known !== undefined && known.arrivals === arrivals && nowMs - known.sinceMs < emptyTtlMs
  }

  /** Forgets what is not believed any more. */
  prune(nowMs: number): void {
    for (const [key, { sinceMs }] of this.#byKey) {
      if (nowMs - sinceMs >= emptyTtlMs) this.#byKey.delete(key)
    }
  }
}
