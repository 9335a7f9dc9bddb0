import { Comparison, type JobResult, type Side } from './comparison.ts'
import type { MirrorCounts } from '../counts.ts'
import type { TappedPacket } from '../gearman/packet-tap.ts'

/** Two different results. */
export interface Difference {
  readonly function: string
  readonly original: JobResult
  readonly copy: JobResult
}

export interface ComparisonOptions {
  readonly max: number
  readonly timeoutMs: number
  readonly counts: MirrorCounts
  readonly onDifference: (difference: Difference) => void
}

/** Foreground jobs in progress at both sides, up to a bound. */
export class Comparisons {
  readonly #options: ComparisonOptions
  /** In the order in which they began. */
  readonly #open = new Set<Comparison>()

  constructor(options: ComparisonOptions) {
    this.#options = options
  }

  get isFull(): boolean {
    return this.#open.size >= this.#options.max
  }

  get size(): number {
    return this.#open.size
  }

  isOpen(comparison: Comparison): boolean {
    return this.#open.has(comparison)
  }

  begin(fn: string, nowMs: number): Comparison {
    const comparison = new Comparison(fn, nowMs)
    this.#open.add(comparison)
    return comparison
  }

  /** Takes a packet of one side; true if it ends the job there. */
  read(comparison: Comparison, side: Side, packet: TappedPacket): boolean {
    const result = comparison.readers[side].read(packet)
    if (!result) return false
    comparison.results[side] ??= result
    if (comparison.isEqual !== undefined && this.#end(comparison)) this.#count(comparison)
    return true
  }

  /** Ends a comparison that will get no results. */
  drop(comparison: Comparison, as: 'refused' | 'unanswered'): void {
    if (this.#end(comparison)) this.#options.counts[as] += 1
  }

  /** Ends comparisons that have waited too long. */
  sweep(nowMs: number): void {
    for (const comparison of this.#open) {
      if (nowMs - comparison.startedMs < this.#options.timeoutMs) return
      this.drop(comparison, 'unanswered')
    }
  }

  dropAll(): void {
    for (const comparison of this.#open) this.drop(comparison, 'unanswered')
  }

  /** False if it was over before. */
  #end(comparison: Comparison): boolean {
    for (const forget of comparison.onOver.splice(0)) forget()
    return this.#open.delete(comparison)
  }

  #count({ fn, isEqual, results: { original, copy } }: Comparison): void {
    if (isEqual === true) this.#options.counts.equal += 1
    else if (original && copy) {
      this.#options.counts.different += 1
      this.#options.onDifference({ function: fn, original, copy })
    }
  }
}
