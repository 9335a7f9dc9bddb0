import type { QueueKind } from '@crossgear/gearmonkey-redis'

/** Most idle jobs held as candidates; the scan begins when there are this many. */
const maxCandidates = 20_000
/** Queue entries per read, and reads per step: some 10 ms. */
const entriesPerPage = 5_000
const pagesPerStep = 10

const places: readonly QueueKind[] = ['high', 'normal', 'low']

interface Parts {
  /** Reads queue entries from the end where jobs come in. */
  readonly page: (
    lane: string,
    place: QueueKind,
    from: number,
    count: number,
  ) => Promise<readonly number[]>
  readonly remember: (lane: string, ids: readonly number[]) => Promise<void>
}

/**
 * Finds idle jobs in no queue: reads the queues of their lanes page by page and strikes out the
 * jobs it meets. Queues move meanwhile, so the rest is a suspicion, not a fact.
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
    return this.#count >= maxCandidates
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

  /** One step; true when all candidates have been checked. */
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
