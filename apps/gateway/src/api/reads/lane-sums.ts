import type { LaneCounts, LaneTotals } from '@crossgear/core-scheduler'
import { type LaneFigures, queuedIn } from '../../ops/metrics/store-snapshot.ts'

/** A lane with its counters. */
export type CountedLane = LaneFigures<LaneCounts>

/** Figures of some lanes together. */
export class LaneSums {
  waiting = 0
  running = 0
  retry = 0
  dead = 0
  oldestSeconds = 0
  workers = 0
  /** All lanes were removed with their queue, and no job is left or has come since. */
  isRemoved = true
  #notRetried = 0
  readonly #totals = { submitted: 0, completed: 0, failed: 0, retried: 0, expired: 0 }

  static of(lanes: readonly CountedLane[]): LaneSums {
    const sums = new LaneSums()
    for (const lane of lanes) sums.add(lane)
    return sums
  }

  add({ counts, oldestSeconds }: CountedLane): void {
    this.addTotals(counts)
    this.waiting += queuedIn(counts)
    this.running += counts.running
    this.retry += counts.retrying
    this.dead += counts.dead
    this.workers += counts.workers
    this.oldestSeconds = Math.max(this.oldestSeconds, oldestSeconds)
    this.#notRetried += counts.scheduled - counts.retrying
    const jobs = queuedIn(counts) + counts.running + counts.scheduled + counts.dead
    this.isRemoved &&= counts.isRemoved && jobs === 0
  }

  /** Counters alone. */
  addTotals(counts: LaneTotals): void {
    const totals = this.#totals
    totals.submitted += counts.submitted
    totals.completed += counts.completed
    totals.failed += counts.failed
    totals.retried += counts.retried
    totals.expired += counts.expired
  }

  /** Jobs that are due for the first time. */
  get scheduled(): number {
    // A job that failed may leave while they are counted.
    return Math.max(0, this.#notRetried)
  }

  /** Jobs and workers in the lanes, as the API shows them. */
  standing() {
    const { waiting, running, scheduled, retry, dead, oldestSeconds } = this
    return { waiting, running, scheduled, retry, dead, oldest_waiting_seconds: oldestSeconds }
  }

  /** Counters of the lanes, as the API shows them. */
  totals() {
    const { submitted, completed, failed, retried, expired } = this.#totals
    return {
      submitted_total: submitted,
      completed_total: completed,
      failed_total: failed,
      retried_total: retried,
      expired_total: expired,
    }
  }
}
