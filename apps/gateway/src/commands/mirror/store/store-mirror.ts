import type { LaneNames, StoreListener } from '@crossgear/core-scheduler'
import { lineOf } from '@crossgear/migration'
import type { RedisStore, StandingJob } from '@crossgear/redis-store'
import type { Comparison } from '../results/comparison.ts'
import { Comparisons, type Difference } from '../results/comparisons.ts'
import type { CopySink } from './copy-sink.ts'
import { type MirrorCounts, noCounts } from '../counts.ts'
import { Share, type ShareOptions } from '../share.ts'

const sweepEveryMs = 1_000
/** Most jobs waiting to be read; more are not copied. */
const maxWaiting = 10_000
/** Jobs per read. */
const jobsAtOnce = 100

export interface StoreMirrorOptions extends Omit<ShareOptions, 'counts'> {
  readonly store: RedisStore
  readonly names: LaneNames
  /** Makes the connection to the other server. */
  readonly sinkOf: (comparisons: Comparisons, counts: MirrorCounts) => CopySink
  readonly maxOutstanding: number
  readonly timeoutMs: number
  readonly maxPayloadBytes: number
  readonly onDifference: (difference: Difference) => void
  /** A job of the store could not be read. */
  readonly onStoreError: (line: string) => void
}

interface Arrival {
  readonly lane: string
  readonly id: number
}

/**
 * Submits copies of all jobs that come to a store to another server. It gets the events that any node gets and reads jobs
 * from the store, so that no door waits for it. Results of copies are compared and counted, then dropped.
 */
export class StoreMirror {
  readonly counts: MirrorCounts = noCounts()
  readonly #options: StoreMirrorOptions
  readonly #comparisons: Comparisons
  readonly #sink: CopySink
  readonly #share: Share
  readonly #waiting: Arrival[] = []
  /** Compared jobs, by lane and id. */
  readonly #compared = new Map<string, Comparison>()
  /** Jobs to be read, and if they have ended meanwhile. */
  readonly #looking = new Map<string, boolean>()
  #isReading = false
  #sweeper: ReturnType<typeof setInterval> | undefined

  constructor(options: StoreMirrorOptions) {
    this.#options = options
    const { counts } = this
    const { maxOutstanding: max, timeoutMs, onDifference } = options
    this.#comparisons = new Comparisons({ max, timeoutMs, counts, onDifference })
    this.#sink = options.sinkOf(this.#comparisons, counts)
    this.#share = new Share({ ...options, counts })
  }

  /** Connects to the other server and subscribes. */
  async open(): Promise<void> {
    const { store } = this.#options
    await this.#sink.open()
    store.events.listen(this.#listener())
    // All lanes, also where some functions are wanted: the first job of a new lane comes with it.
    await store.events.watch('each')
    this.#sweeper = setInterval(() => this.#comparisons.sweep(Date.now()), sweepEveryMs)
  }

  /** Copies no more jobs; true when nothing is waited for any more. */
  wind(): boolean {
    this.#share.stop()
    const isRead = !this.#isReading && this.#waiting.length === 0
    return isRead && this.#comparisons.size === 0 && this.#sink.asked === 0
  }

  close(): void {
    this.#share.stop()
    clearInterval(this.#sweeper)
    this.#comparisons.dropAll()
    this.#sink.end()
  }

  #listener(): StoreListener {
    const nothing = (): void => undefined
    return {
      created: (lane, id) => this.#arrived(lane, id),
      finished: (lane, id) => this.#finished(lane, id),
      laneAdded: nothing,
      started: nothing,
      relayed: nothing,
      woken: nothing,
      roomMade: nothing,
      laneDropped: nothing,
      laneClosed: nothing,
      pausesChanged: nothing,
      consumerNews: nothing,
      asked: nothing,
      answered: nothing,
      up: nothing,
      down: nothing,
    }
  }

  #arrived(lane: string, id: number): void {
    if (!this.#share.take(this.#options.names.parse(lane).fn)) return
    const isLate = this.#comparisons.isFull || this.#waiting.length >= maxWaiting
    if (isLate || !this.#sink.isReady) {
      this.counts.skipped += 1
      return
    }
    this.#looking.set(nameOf(lane, id), false)
    this.#waiting.push({ lane, id })
    if (!this.#isReading) void this.#readAll()
  }

  async #readAll(): Promise<void> {
    this.#isReading = true
    while (this.#waiting.length > 0) {
      const { lane } = this.#waiting[0] as Arrival
      const end = this.#waiting.findIndex((one, at) => one.lane !== lane || at >= jobsAtOnce)
      const some = this.#waiting.splice(0, end < 0 ? this.#waiting.length : end)
      await this.#copyAll(
        lane,
        some.map(({ id }) => id),
      )
    }
    this.#isReading = false
  }

  async #copyAll(lane: string, ids: readonly number[]): Promise<void> {
    const { store, timeoutMs, onStoreError } = this.#options
    try {
      const [, jobs] = await Promise.all([
        store.jobs.keepOutcomes(lane, ids, Math.ceil(timeoutMs / 1_000)),
        store.imports.jobsInLane(lane, ids),
      ])
      for (const [at, standing] of jobs.entries()) this.#copy(lane, ids[at] ?? 0, standing)
    } catch (error) {
      this.counts.missed += ids.length
      onStoreError(lineOf(error))
    } finally {
      for (const id of ids) this.#looking.delete(nameOf(lane, id))
    }
  }

  #copy(lane: string, id: number, standing: StandingJob | undefined): void {
    const { maxPayloadBytes, names } = this.#options
    if (!standing) {
      this.counts.missed += 1
      return
    }
    const { job } = standing
    const isLong = job.input.length > maxPayloadBytes
    if (!this.#share.copies({ isLong, isLate: !this.#sink.isReady })) return
    const { fn } = names.parse(lane)
    // A native client may or may not wait: its job's outcome is in the store.
    const isCompared = this.#sink.hasResults && (job.foreground || job.door === 'native')
    const comparison = isCompared ? this.#comparisons.begin(fn, Date.now()) : undefined
    const name = nameOf(lane, id)
    if (comparison) {
      this.#compared.set(name, comparison)
      comparison.onOver.push(() => this.#compared.delete(name))
    }
    this.#sink.copy({ fn, standing }, comparison)
    if (this.#looking.get(name) === true) this.#finished(lane, id)
  }

  #finished(lane: string, id: number): void {
    const name = nameOf(lane, id)
    const comparison = this.#compared.get(name)
    if (comparison) void this.#settle({ lane, id }, comparison)
    else if (this.#looking.has(name)) this.#looking.set(name, true)
  }

  async #settle({ lane, id }: Arrival, comparison: Comparison): Promise<void> {
    const { store, onStoreError } = this.#options
    try {
      const [job] = await store.jobs.look(lane, [id], ['output'])
      if (job?.status === 'idle' || job?.status === 'busy') return
      if (!job) {
        this.#comparisons.drop(comparison, 'unanswered')
        return
      }
      const name = job.status === 'success' ? 'WORK_COMPLETE' : 'WORK_FAIL'
      const args = [Buffer.alloc(0), Buffer.from(job.output ?? [])]
      this.#comparisons.read(comparison, 'original', { name, args, size: 0, isCut: false })
    } catch (error) {
      onStoreError(lineOf(error))
      this.#comparisons.drop(comparison, 'unanswered')
    }
  }
}

function nameOf(lane: string, id: number): string {
  return `${id} ${lane}`
}
