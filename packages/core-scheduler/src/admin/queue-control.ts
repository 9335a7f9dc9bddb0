import type { SchedulerEmitter } from '../scheduler-events.ts'
import type { Waiters } from '../results/waiters.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { LaneGroup, Observer, Store } from '../store/ports.ts'
import type { ConsumerNews, ConsumerOrder, JobPlace } from '../store/queue-ports.ts'

/** Jobs ended per step. */
const endedPerStep = 1_000
const queuedPlaces: readonly JobPlace[] = ['high', 'normal', 'low']
const allPlaces: readonly JobPlace[] = [...queuedPlaces, 'scheduled', 'dead', 'busy']

/** Hears what is told of Faktory workers; `*` is every worker. */
export type ConsumerNewsListener = (wid: string, news: ConsumerNews) => void

interface Parts {
  readonly store: Store
  readonly registry: LaneRegistry
  readonly waiters: Waiters
  readonly observer: Observer
  readonly events: SchedulerEmitter
}

/** Operations on whole Faktory queues, over all nodes. */
export class QueueControl {
  readonly #parts: Parts
  readonly #newsListeners = new Set<ConsumerNewsListener>()
  #paused: ReadonlySet<string> = new Set()

  constructor(parts: Parts) {
    this.#parts = parts
    parts.events.on('consumerNews', (wid, news) => this.#onNews(wid, news))
    parts.events.on('storeReset', () => this.load())
  }

  get paused(): ReadonlySet<string> {
    return this.#paused
  }

  /** Learns which queues are paused. */
  async load(): Promise<void> {
    this.#paused = new Set(await this.#parts.store.queues.pausedQueues())
  }

  /** Consumers are given nothing from these queues; jobs go on coming in. */
  async pause(queues: readonly string[]): Promise<void> {
    await this.#setPaused(queues, true)
  }

  async resume(queues: readonly string[]): Promise<void> {
    await this.#setPaused(queues, false)
  }

  /** Tells a Faktory worker, or with `*` every one, at whichever nodes they are. */
  async order(wid: string, order: ConsumerOrder): Promise<void> {
    await this.#parts.store.queues.notifyOfConsumer(wid, order)
  }

  /** News of a Faktory worker, which may have connections to other nodes. They hear it if the store answers. */
  async notify(wid: string, news: ConsumerNews): Promise<void> {
    try {
      await this.#parts.store.queues.notifyOfConsumer(wid, news)
    } catch (error) {
      this.#parts.observer.error('tell of a worker', error)
    }
  }

  /** Hears news of workers from now on; what it returns ends that. */
  onConsumerNews(listener: ConsumerNewsListener): () => void {
    this.#newsListeners.add(listener)
    return () => this.#newsListeners.delete(listener)
  }

  /** Ends the queued jobs of a queue, which is in no list until another job comes. */
  async remove(queue: string): Promise<void> {
    for (const lane of [...this.#parts.registry.ofQueue(queue)]) {
      await this.#end(lane, queuedPlaces)
      await this.#parts.store.queues.markRemoved(lane)
    }
  }

  /**
   * Ends all jobs, those in the hands of workers too, and forgets the batches first: nobody is called back. What was
   * counted so far begins at zero again, and lanes that nobody serves are given back.
   */
  async flush(): Promise<void> {
    await this.#parts.store.batches.clear()
    for (const lane of [...this.#parts.registry.all()]) {
      await this.#end(lane, allPlaces)
      await this.#parts.store.queues.resetTotals(lane)
    }
    const { store, registry } = this.#parts
    for (const lane of await store.giveBackLanes([...registry.all()], 0)) registry.remove(lane)
  }

  /** Since when the oldest of the next jobs of a queue's lanes is queued, milliseconds since 1970. */
  async oldest(queue: string): Promise<number | undefined> {
    const { store, registry } = this.#parts
    const lanes = registry.ofQueue(queue)
    if (lanes.length === 0) return undefined
    const since = await store.queues.oldest(lanes)
    const found = since.filter((ms) => ms !== undefined)
    return found.length === 0 ? undefined : Math.min(...found)
  }

  /** The lane groups of a consumer without those of paused queues. */
  unpaused(groups: readonly LaneGroup[]): readonly LaneGroup[] {
    if (this.#paused.size === 0) return groups
    const { names } = this.#parts.registry
    return groups.filter(({ lanes: [lane] }) => {
      return lane !== undefined && !this.#paused.has(names.parse(lane).queue)
    })
  }

  /** News of a worker came, from whichever node. */
  #onNews(wid: string, news: ConsumerNews): void {
    for (const listener of this.#newsListeners) listener(wid, news)
  }

  async #setPaused(queues: readonly string[], paused: boolean): Promise<void> {
    if (queues.length === 0) return
    await this.#parts.store.queues.setPaused(queues, paused)
    await this.load()
  }

  async #end(lane: string, places: readonly JobPlace[]): Promise<void> {
    for (;;) {
      const ids = await this.#parts.store.queues.endJobs(lane, places, endedPerStep)
      for (const id of ids) this.#parts.waiters.notify({ lane, id }, { kind: 'fail' })
      if (ids.length < endedPerStep) return
    }
  }
}
