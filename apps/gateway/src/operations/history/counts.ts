import { bucketOf } from './time-buckets.ts'

/** Events by the names of the metrics. */
export const historyCounters = [
  'submitted',
  'completed',
  'failed',
  'died',
  'retried',
  'interrupted',
  'lost',
  'expired',
  'cancelled',
  'deleted',
  'moved',
  'requeued',
  'killed',
] as const
export type HistoryCounter = (typeof historyCounters)[number]
export type HistoryTimes = 'wait' | 'run'

/** The name of the sum that counts times of a bucket. */
export function timeName(times: HistoryTimes, bucket: number): string {
  return `${times}:${bucket}`
}

/** Sums of a few seconds: a job costs a few additions, 0.2 us of processor time. */
export class Counts {
  readonly #events = Object.fromEntries(historyCounters.map((name) => [name, 0])) as Record<
    HistoryCounter,
    number
  >
  readonly #times: Readonly<Record<HistoryTimes, number[]>> = { wait: [], run: [] }

  add(counter: HistoryCounter, count = 1): void {
    this.#events[counter] += count
  }

  time(times: HistoryTimes, ms: number): void {
    const bucket = bucketOf(ms)
    this.#times[times][bucket] = (this.#times[times][bucket] ?? 0) + 1
  }

  merge(other: Counts): void {
    for (const counter of historyCounters) this.#events[counter] += other.#events[counter]
    for (const times of ['wait', 'run'] as const) {
      other.#times[times].forEach((count, bucket) => {
        this.#times[times][bucket] = (this.#times[times][bucket] ?? 0) + count
      })
    }
  }

  /** Without those that are 0. */
  sums(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>()
    for (const counter of historyCounters) {
      if (this.#events[counter] > 0) sums.set(counter, this.#events[counter])
    }
    for (const times of ['wait', 'run'] as const) {
      this.#times[times].forEach((count, bucket) => sums.set(timeName(times, bucket), count))
    }
    return sums
  }
}
