import { Counts } from './counts.ts'

/** Functions and queues of which one node keeps a history within a day: the first that come. */
export const namedBounds = { f: 500, q: 100 } as const
type Kind = keyof typeof namedBounds

/** A name that was not counted for this long gives its place to another, ms: its last hours are gone then. */
const forgottenMs = 25 * 3_600_000

/** The name under which the history of a function (`f`) or a queue (`q`) is stored. */
export function historyName(kind: Kind, name: string): string {
  return `${kind}:${name}`
}

/** Counts of functions and queues, of a bounded number of each. */
export class NamedCounts {
  /** Time of the last count of each, milliseconds. */
  readonly #known: Readonly<Record<Kind, Map<string, number>>> = { f: new Map(), q: new Map() }
  readonly #counts = new Map<string, Counts>()

  merge(
    { fn, queue }: { readonly fn: string; readonly queue: string },
    counts: Counts,
    nowMs: number,
  ): void {
    this.#merge('f', fn, counts, nowMs)
    this.#merge('q', queue, counts, nowMs)
  }

  /** Passes the sums of each, which are forgotten once that has succeeded. */
  async each(add: (of: string, sums: ReadonlyMap<string, number>) => Promise<void>): Promise<void> {
    for (const [of, counts] of Array.from(this.#counts)) {
      await add(of, counts.sums())
      this.#counts.delete(of)
    }
  }

  #merge(kind: Kind, name: string, counts: Counts, nowMs: number): void {
    if (!this.#admits(kind, name, nowMs)) return
    const of = historyName(kind, name)
    const known = this.#counts.get(of) ?? new Counts()
    known.merge(counts)
    this.#counts.set(of, known)
  }

  #admits(kind: Kind, name: string, nowMs: number): boolean {
    const known = this.#known[kind]
    if (!known.has(name) && known.size >= namedBounds[kind]) {
      for (const [other, lastMs] of known) {
        if (nowMs - lastMs < forgottenMs) break
        known.delete(other)
      }
      if (known.size >= namedBounds[kind]) return false
    }
    // The one that was counted longest ago stands first.
    known.delete(name)
    known.set(name, nowMs)
    return true
  }
}
