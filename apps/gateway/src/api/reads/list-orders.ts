import { type Compare, sortedInPieces } from '../../in-pieces.ts'

interface Order<Word extends string> {
  /** `name`. */
  readonly sort?: Word | 'name'
  /** `asc`. */
  readonly order?: 'asc' | 'desc'
}

interface Parts<Entry, Word extends string> {
  readonly entries: readonly Entry[]
  readonly byName: Compare<Entry>
  /** The figures that entries may be sorted by, besides their names. */
  readonly figureOf: (entry: Entry, word: Word) => number
}

/** One list in several orders, each made once for all who ask. Entries with equal figures stay by name. */
export class ListOrders<Entry, Word extends string> {
  readonly #parts: Parts<Entry, Word>
  readonly #made = new Map<string, Promise<readonly Entry[]>>()

  constructor(parts: Parts<Entry, Word>) {
    this.#parts = parts
  }

  get({ sort = 'name', order = 'asc' }: Order<Word> = {}): Promise<readonly Entry[]> {
    const key = `${order} ${sort}`
    const known = this.#made.get(key)
    if (known) return known
    const made = this.#make(sort, order)
    this.#made.set(key, made)
    return made
  }

  async #make(sort: Word | 'name', order: 'asc' | 'desc'): Promise<readonly Entry[]> {
    const { entries, byName, figureOf } = this.#parts
    if (sort === 'name') {
      return order === 'asc' ? sortedInPieces(entries, byName) : (await this.get()).toReversed()
    }
    const sign = order === 'asc' ? 1 : -1
    const byFigure: Compare<Entry> = (one, other) =>
      (figureOf(one, sort) - figureOf(other, sort)) * sign
    return sortedInPieces(await this.get(), byFigure)
  }
}
