import type { MirrorCounts } from './counts.ts'

export interface ShareOptions {
  /** Functions that are copied. All. */
  readonly functions?: ReadonlySet<string>
  /** Of their jobs, 0 to 100. */
  readonly percent: number
  readonly counts: MirrorCounts
}

/** Picks jobs of some functions, a percentage of them evenly, and counts what becomes of them. */
export class Share {
  readonly #options: ShareOptions
  /** Hundredths of a copy not used so far. */
  #unused = 0
  #isCopying = true

  constructor(options: ShareOptions) {
    this.#options = options
  }

  /** Picks no more jobs. */
  stop(): void {
    this.#isCopying = false
  }

  /** True if the next job is picked. */
  take(fn: string): boolean {
    const { functions, percent, counts } = this.#options
    if (!this.#isCopying || functions?.has(fn) === false) return false
    counts.seen += 1
    this.#unused += percent
    if (this.#unused < 100) return false
    this.#unused -= 100
    return true
  }

  /** A push that is too long to be read. */
  countCut(): void {
    if (!this.#isCopying) return
    this.#options.counts.seen += 1
    this.#options.counts.tooLong += 1
  }

  /** True if a job that was picked is copied. */
  copies({ isLong, isLate }: { readonly isLong: boolean; readonly isLate: boolean }): boolean {
    const result = isLong ? 'tooLong' : isLate ? 'skipped' : 'copied'
    this.#options.counts[result] += 1
    return result === 'copied'
  }
}
