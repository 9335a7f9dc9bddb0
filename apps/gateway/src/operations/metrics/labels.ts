/** Label of every name without one of its own. */
const other = 'other'

/** Most names remembered as having no label; further ones are counted each time. */
const maxFolded = 65_536

/**
 * Gives labels of their own to a bounded number of names, and `other` to the rest. A name keeps its
 * label while it exists, so that its series is steady.
 */
export class BoundedLabels {
  readonly #bound: number
  readonly #own = new Set<string>()
  readonly #folded = new Set<string>()
  #foldedEver = 0

  constructor(bound: number) {
    this.#bound = bound
  }

  /** Names without a label of their own, so far. */
  get folded(): number {
    return this.#foldedEver
  }

  of(name: string): string {
    if (this.#own.has(name)) return name
    if (this.#own.size < this.#bound && !this.#folded.has(name)) {
      this.#own.add(name)
      return name
    }
    if (!this.#folded.has(name)) {
      if (this.#folded.size < maxFolded) this.#folded.add(name)
      this.#foldedEver += 1
    }
    return other
  }

  /** Takes labels from names that are gone, if others lack one. Returns those that lost theirs. */
  prune(isPresent: (name: string) => boolean): readonly string[] {
    if (this.#folded.size === 0) return []
    const gone = [...this.#own].filter((name) => !isPresent(name))
    if (gone.length === 0) return gone
    for (const name of gone) this.#own.delete(name)
    for (const name of this.#folded) if (!isPresent(name)) this.#folded.delete(name)
    const free = this.#bound - this.#own.size
    for (const name of [...this.#folded].slice(0, free)) this.#folded.delete(name)
    return gone
  }
}

/** Queues have labels up to a bound, since clients name them too. */
export interface LaneLabels {
  readonly functions: BoundedLabels
  readonly queues: BoundedLabels
}
