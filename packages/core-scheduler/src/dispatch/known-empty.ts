import type { Interest } from '../model/interest.ts'

/** For so long what the store said last is believed, milliseconds. */
const believedMs = 100

interface Emptiness {
  readonly stirs: number
  readonly sinceMs: number
}

/**
 * Workers that were given the last job of their lanes ask again when it is done. They need not ask the
 * store as long as nothing has stirred in lanes of which it tells this node everything.
 */
export class KnownEmpty {
  readonly #byKey = new Map<string, Emptiness>()

  get isEmpty(): boolean {
    return this.#byKey.size === 0
  }

  /** Nothing was left; `stirs` is what {@link Stirs.of} says now. */
  note({ key }: Interest, stirs: number, nowMs: number): void {
    this.#byKey.set(key, { stirs, sinceMs: nowMs })
  }

  holds({ key }: Interest, stirs: number, nowMs: number): boolean {
    const known = this.#byKey.get(key)
    return known !== undefined && known.stirs === stirs && nowMs - known.sinceMs < believedMs
  }

  /** Forgets what is not believed any more. */
  prune(nowMs: number): void {
    for (const [key, { sinceMs }] of this.#byKey) {
      if (nowMs - sinceMs >= believedMs) this.#byKey.delete(key)
    }
  }
}
