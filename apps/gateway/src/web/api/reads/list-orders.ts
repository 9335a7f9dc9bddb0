import { type Compare, sortedInPieces } from '../../../in-pieces.ts'

/** The figures that entries may be sorted by, besides their names. */
export type FigureTable<Entry, Word extends string> = Readonly<
  Record<Word, (entry: Entry) => number>
>

interface Order<Word extends string> {
  /** `name`. */
  readonly sort?: Word | 'name'
  /** `asc`. */
  readonly order?: 'asc' | 'desc'
}

interface Parts<Entry, Word extends string> {
  readonly entries: readonly Entry[]
  readonly byName: Compare<Entry>
  readonly figures: FigureTable<Entry, Word>
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
    const { entries, byName, figures } = this.#parts
    if (sort === 'name') {
      return order === 'asc' ? sortedInPieces(entries, byName) : (await this.get()).toReversed()
    }
    const figureOf = figures[sort]
    const sign = order === 'asc' ? 1 : -1
    const byFigure: Compare<Entry> = (one, other) => (figureOf(one) - figureOf(other)) * sign
    return sortedInPieces(await this.get(), byFigure)
  }
}
