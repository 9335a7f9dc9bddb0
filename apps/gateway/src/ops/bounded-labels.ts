/** Stands for every name that got no label of its own. */
const OTHER = 'other'

/**
 * Gives names labels of their own, up to a bound, and calls the rest `other`. A name keeps its label for
 * as long as it is seen, so that its series does not come and go.
 */
export class BoundedLabels {
  readonly #bound: number
  #own: ReadonlySet<string> = new Set()

  constructor(bound: number) {
    this.#bound = bound
  }

  /** The label of each name that is there now. */
  assign(names: readonly string[]): ReadonlyMap<string, string> {
    const present = new Set(names)
    const own = new Set([...this.#own].filter((name) => present.has(name)))
    for (const name of present) {
      if (own.size >= this.#bound) break
      own.add(name)
    }
    this.#own = own
    return new Map([...present].map((name) => [name, own.has(name) ? name : OTHER]))
  }
}
