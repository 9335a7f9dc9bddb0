import type { Place } from '@crossgear/gearmonkey-redis'

/** Idle jobs that are kept in mind at a time; the hunt begins when there are so many. */
const mostCandidates = 20_000
/** Entries of a queue that are read at once, and how often in one step: some 10 ms. */
const entriesPerPage = 5_000
const pagesPerStep = 10

const places: readonly Place[] = ['high', 'normal', 'low']

interface Parts {
  /** Entries of a queue from the end where jobs come in. */
  readonly page: (
    lane: string,
    place: Place,
    from: number,
    count: number,
  ) => Promise<readonly number[]>
  readonly remember: (lane: string, ids: readonly number[]) => Promise<void>
}

/**
 * Finds the idle jobs that stand in no queue: reads the queues of their lanes in pieces and takes away
 * whom it meets. A queue moves on meanwhile, and so what is left is a suspicion, not a fact.
 */
export class OrphanScanner {
  readonly #parts: Parts
  #candidates = new Map<string, Set<number>>()
  #count = 0
  #isOn = false
  #place = 0
  #from = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get isOn(): boolean {
    return this.#isOn
  }

  get isFull(): boolean {
    return this.#count >= mostCandidates
  }

  add(lane: string, ids: readonly number[]): void {
    if (ids.length === 0) return
    const known = this.#candidates.get(lane) ?? new Set()
    for (const id of ids) known.add(id)
    this.#candidates.set(lane, known)
    this.#count += ids.length
  }

  begin(): void {
    this.#isOn = this.#candidates.size > 0
    this.#place = 0
    this.#from = 0
  }

  /** One step; true when all candidates have been looked for. */
  async goOn(): Promise<boolean> {
    for (let pages = 0; pages < pagesPerStep; pages += 1) {
      const [next] = this.#candidates
      if (!next) {
        this.#isOn = false
        return true
      }
      await this.#lookFor(...next)
    }
    return false
  }

  async #lookFor(lane: string, ids: Set<number>): Promise<void> {
    const place = places[this.#place]
    if (place === undefined || ids.size === 0) {
      if (ids.size > 0) await this.#parts.remember(lane, [...ids].slice(0, entriesPerPage))
      this.#candidates.delete(lane)
      if (this.#candidates.size === 0) this.#count = 0
      this.#place = 0
      return
    }
    const page = await this.#parts.page(lane, place, this.#from, entriesPerPage)
    for (const id of page) ids.delete(id)
    if (page.length === entriesPerPage) {
      this.#from += entriesPerPage
      return
    }
    this.#from = 0
    this.#place += 1
  }
}
