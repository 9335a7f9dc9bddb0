import type {
  Clock,
  EndedRun,
  HistoryStore,
  LaneNames,
  Lease,
  StoreClock,
} from '@crossgear/core-scheduler'
import { Counts, type HistoryCounter } from './counts.ts'
import { LatestRuns } from './latest-runs.ts'
import { NamedCounts } from './named-counts.ts'

/** Interval at which this node adds its counts to the sums of all nodes, milliseconds. */
export const historyEveryMs = 10_000
/** Such intervals after which it adds those of functions and queues: one write for each in a minute. */
export const namedEvery = 6

interface Parts {
  readonly clock: Clock
  readonly names: Pick<LaneNames, 'parse'>
  readonly onError: (task: string, error: unknown) => void
}

/** Counts the events of jobs at this node, and adds them to the history in the store. */
export class JobHistory {
  readonly #parts: Parts
  /** By lane, since the last addition. */
  #lanes = new Map<string, Counts>()
  #whole = new Counts()
  readonly #named = new NamedCounts()
  readonly #runs = new LatestRuns()
  #started: { readonly store: HistoryStore; readonly storeClock: StoreClock } | undefined
  #cancel: (() => void) | undefined
  #adding: Promise<void> | undefined
  #rounds = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  counted(lane: string, counter: HistoryCounter, count = 1): void {
    this.#of(lane).add(counter, count)
  }

  assigned({ lane, waitedMs }: Lease): void {
    if (waitedMs !== undefined) this.#of(lane).time('wait', waitedMs)
  }

  ended(run: EndedRun): void {
    const { lane, end, runMs } = run
    if (this.#started) this.#runs.add(run, this.#started.storeClock.storeNowMs())
    const counts = this.#of(lane)
    counts.add(end)
    if (runMs !== undefined) counts.time('run', runMs)
  }

  start(store: HistoryStore, storeClock: StoreClock): void {
    this.#started = { store, storeClock }
    this.#cancel = this.#parts.clock.after(historyEveryMs, () => {
      this.#rounds += 1
      this.#adding = this.#add(this.#rounds % namedEvery === 0).then(() => {
        if (this.#cancel) this.start(store, storeClock)
      })
    })
  }

  /** Adds the last counts; settles when no call is in progress. */
  async stop(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    await this.#adding
    await this.#add(true)
  }

  #of(lane: string): Counts {
    let counts = this.#lanes.get(lane)
    if (!counts) this.#lanes.set(lane, (counts = new Counts()))
    return counts
  }

  async #add(withNamed: boolean): Promise<void> {
    const lanes = this.#lanes
    this.#lanes = new Map()
    for (const [lane, counts] of lanes) {
      this.#whole.merge(counts)
      this.#named.merge(this.#parts.names.parse(lane), counts, this.#parts.clock.nowMs())
    }
    if (!this.#started) return
    const { store, storeClock } = this.#started
    try {
      // A refused addition goes with the next: a bucket may get what belongs to the one before.
      const sums = this.#whole.sums()
      if (sums.size > 0) {
        await store.add(storeClock.storeNowMs(), sums)
        this.#whole = new Counts()
      }
      const { names } = this.#parts
      await this.#runs.store(
        (lane) => names.parse(lane).fn,
        (fn, runs) => store.addRuns(fn, runs),
      )
      if (!withNamed) return
      await this.#named.each((of, sums) => store.add(storeClock.storeNowMs(), sums, of))
    } catch (error) {
      this.#parts.onError('history', error)
    }
  }
}
