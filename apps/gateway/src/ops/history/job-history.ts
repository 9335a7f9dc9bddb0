import type { Clock, EndedRun, HistoryStore, Lease, StoreClock } from '@crossgear/core-scheduler'
import { bucketOf } from './time-buckets.ts'

/** Interval at which this node adds its counts to the sums of all nodes, milliseconds. */
export const historyEveryMs = 10_000

/** Events by the names of the metrics. */
export const historyCounters = [
  'submitted',
  ...(['completed', 'failed', 'died', 'retried', 'interrupted', 'lost', 'expired'] as const),
  ...(['cancelled', 'deleted', 'moved', 'requeued', 'killed'] as const),
] as const
export type HistoryCounter = (typeof historyCounters)[number]
export type HistoryTimes = 'wait' | 'run'

/** The name of the sum that counts times of a bucket. */
export function timeName(times: HistoryTimes, bucket: number): string {
  return `${times}:${bucket}`
}

interface Parts {
  readonly clock: Clock
  readonly onError: (task: string, error: unknown) => void
}

/** Counts the events of jobs at this node, and adds them to the history in the store. */
export class JobHistory {
  readonly #parts: Parts
  #counts = new Counts()
  #cancel: (() => void) | undefined
  #adding: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  counted(counter: HistoryCounter, count = 1): void {
    this.#counts.add(counter, count)
  }

  assigned({ waitedMs }: Lease): void {
    if (waitedMs !== undefined) this.#counts.time('wait', waitedMs)
  }

  ended({ end, runMs }: EndedRun): void {
    this.#counts.add(end)
    if (runMs !== undefined) this.#counts.time('run', runMs)
  }

  start(store: HistoryStore, storeClock: StoreClock): void {
    this.#cancel = this.#parts.clock.after(historyEveryMs, () => {
      this.#adding = this.#add(store, storeClock).then(() => {
        if (this.#cancel) this.start(store, storeClock)
      })
    })
  }

  /** Settles when no call is in progress. Counts since the last addition are not added. */
  async stop(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    await this.#adding
  }

  async #add(store: HistoryStore, storeClock: StoreClock): Promise<void> {
    const counts = this.#counts
    const sums = counts.sums()
    if (sums.size === 0) return
    this.#counts = new Counts()
    try {
      await store.add(storeClock.storeNowMs(), sums)
    } catch (error) {
      // Added with the next: a bucket may get what belongs to the one before.
      this.#counts.merge(counts)
      this.#parts.onError('history', error)
    }
  }
}

/** Sums of a few seconds: a job costs a few additions, 0.2 us of processor time. */
class Counts {
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
