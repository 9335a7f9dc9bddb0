import type { LaneTotals } from '@crossgear/core-scheduler'
import { type TotalName, totals } from '../schemas/lanes.ts'
import { type LaneFigures, queuedIn } from '../../../operations/metrics/store-snapshot.ts'

const totalNames = Object.keys(totals) as readonly TotalName[]

/** The counters that the API shows, by their names there. */
const counters = totalNames.map((name) => {
  const counter = name === 'requeued_total' ? 'rerun' : name.slice(0, -'_total'.length)
  return [name, counter as keyof LaneTotals] as const
})

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
  readonly #totals = Object.fromEntries(totalNames.map((name) => [name, 0])) as Record<
    TotalName,
    number
  >

  static of(lanes: readonly LaneFigures[]): LaneSums {
    const sums = new LaneSums()
    for (const lane of lanes) sums.add(lane)
    return sums
  }

  add({ counts, oldestSeconds }: LaneFigures): void {
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
    for (const [name, counter] of counters) this.#totals[name] += counts[counter]
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
  totals(): Record<TotalName, number> {
    return { ...this.#totals }
  }
}
