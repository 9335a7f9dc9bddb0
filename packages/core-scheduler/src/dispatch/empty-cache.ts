import type { Subscription } from '../model/subscription.ts'

/** How long an empty answer stays valid, milliseconds. */
const emptyTtlMs = 100

interface Emptiness {
  readonly arrivals: number
  readonly sinceMs: number
}

/**
 * Spares claims: workers that got the last job of their lanes ask again when it is done, and the
 * answer stays empty until a job arrives. Foreground: 106 us of processor time a job, 115 without.
 */
export class EmptyCache {
  readonly #byKey = new Map<string, Emptiness>()

  get isEmpty(): boolean {
    return this.#byKey.size === 0
  }

  /** The store had nothing left; `arrivals` is the figure of {@link ArrivalCounters.of}. */
  note({ key }: Subscription, arrivals: number, nowMs: number): void {
    this.#byKey.set(key, { arrivals, sinceMs: nowMs })
  }

  holds({ key }: Subscription, arrivals: number, nowMs: number): boolean {
    const known = this.#byKey.get(key)
    return known !== undefined && known.arrivals === arrivals && nowMs - known.sinceMs < emptyTtlMs
  }

  /** Drops entries that are no longer valid. */
  prune(nowMs: number): void {
    for (const [key, { sinceMs }] of this.#byKey) {
      if (nowMs - sinceMs >= emptyTtlMs) this.#byKey.delete(key)
    }
  }
}
