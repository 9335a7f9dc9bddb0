import type { IdleSearch } from '../dispatch/idle-search.ts'
import type { NodeContext } from '../node/node-context.ts'
import type { IdleTimes } from '../store/lane-ports.ts'
import {
  type ConsumerNews,
  type ConsumerOrder,
  type JobPlace,
  type PausedKind,
  pauseName,
  type PauseNote,
  type QueuedPiece,
  type Taken,
} from '../store/queue-ports.ts'

/** Jobs ended per step: some 2 ms of the store's time. */
const endedPerStep = 100
/** Jobs of a piece of a queue that are ended per step: counting up to them costs as much again. */
const endedOfPiece = 50
/** Lanes flushed at once: the store has work while an answer is read, and less than 5 ms of it. */
const flushedAtOnce = 2
const atOnce: IdleTimes = { unusedMs: 0, emptiedMs: 0, keptMs: 0 }
const queuedPlaces: readonly JobPlace[] = ['high', 'normal', 'low']
const allPlaces: readonly JobPlace[] = [...queuedPlaces, 'scheduled', 'dead', 'busy']

/** Receives news of Faktory workers; `*` is every worker. */
export type ConsumerNewsListener = (wid: string, news: ConsumerNews) => void

interface Parts extends NodeContext {
  readonly idleSearch: IdleSearch
}

/** Operations on whole Faktory queues and functions, over all nodes. */
export class QueueControl {
  readonly #parts: Parts
  #notes: ReadonlyMap<string, PauseNote> = new Map()
  readonly #newsListeners = new Set<ConsumerNewsListener>()

  constructor(parts: Parts) {
    this.#parts = parts
    parts.events.on('consumerNews', (wid, news) => this.#onNews(wid, news))
    parts.events.on('storeReset', () => this.load())
    parts.events.on('reconnected', () => this.load())
    parts.events.on('pausesChanged', async () => {
      await this.load()
      await parts.idleSearch.wakeIdle([...parts.registry.all()])
    })
  }

  get paused(): ReadonlySet<string> {
    return this.#parts.pauses.queues
  }

  /** Paused functions, and single lanes of some. */
  get pausedFunctions(): ReadonlySet<string> {
    return this.#parts.pauses.functions
  }

  /** True if the lane's function is paused: no worker behind a gateway gets its jobs. */
  holdsBack(lane: string): boolean {
    return this.#parts.pauses.holdsBack(lane)
  }

  /** The note of a pause of a queue, a function or a lane; undefined where nobody noted it. */
  pauseOf(kind: PausedKind, name: string): PauseNote | undefined {
    return this.#notes.get(pauseName(kind, name))
  }

  /** The notes of all pauses: another map after each change. */
  get pauseNotes(): ReadonlyMap<string, PauseNote> {
    return this.#notes
  }

  /** Loads what is paused. Resumed lanes are put back where consumers find them. */
  async load(): Promise<void> {
    const { store, pauses, registry } = this.#parts
    const [queues, functions, notes] = await Promise.all([
      store.queues.pausedQueues(),
      store.queues.pausedFunctions(),
      store.queues.pauseNotes(),
    ])
    this.#notes = notes
    const isNew =
      queues.some((queue) => !pauses.queues.has(queue)) ||
      functions.some((name) => !pauses.functions.has(name))
    const resumed = pauses.set(new Set(queues), new Set(functions))
    if (isNew) await this.#withoutPrefetched(() => undefined)
    const lanes = resumed.flatMap((name) => [name, ...registry.ofFunction(name)])
    const known = lanes.filter((lane) => registry.numberOf(lane) !== undefined)
    if (known.length > 0) await store.lanes.heal([...new Set(known)])
  }

  /** Pauses functions or lanes: workers behind gateways get none of their jobs, which still come in. */
  async pauseFunctions(names: readonly string[], who?: string): Promise<void> {
    await this.#parts.store.queues.setFunctionsPaused(names, true, this.#noteOf(who))
    await this.load()
  }

  async resumeFunctions(names: readonly string[]): Promise<void> {
    await this.#parts.store.queues.setFunctionsPaused(names, false)
    await this.load()
  }

  /** Pauses queues: consumers get none of their jobs, which still come in. */
  async pause(queues: readonly string[], who?: string): Promise<void> {
    await this.#setPaused(queues, true, this.#noteOf(who))
  }

  async resume(queues: readonly string[]): Promise<void> {
    await this.#setPaused(queues, false)
  }

  /** Sends an order to a Faktory worker, or with `*` to all, at any node. */
  async order(wid: string, order: ConsumerOrder): Promise<void> {
    await this.#parts.store.queues.notifyOfConsumer(wid, order)
  }

  /**
   * Publishes news of a Faktory worker, which may have connections to other nodes. It is lost if the
   * store does not answer.
   */
  async notify(wid: string, news: ConsumerNews): Promise<void> {
    try {
      await this.#parts.store.queues.notifyOfConsumer(wid, news)
    } catch (error) {
      this.#parts.observer.error('notify of a worker', error)
    }
  }

  /** Subscribes to news of workers; returns a function that unsubscribes. */
  onConsumerNews(listener: ConsumerNewsListener): () => void {
    this.#newsListeners.add(listener)
    return () => this.#newsListeners.delete(listener)
  }

  /** Ends the queued jobs of a queue, and returns how many; the queue is unlisted until another job comes. */
  async remove(queue: string): Promise<number> {
    let count = 0
    await this.#withoutPrefetched(async () => {
      for (const lane of Array.from(this.#parts.registry.ofQueue(queue))) {
        count += await this.#end(lane, queuedPlaces)
        await this.#parts.store.queues.markRemoved(lane)
      }
    })
    return count
  }

  /**
   * Ends all jobs, running ones too, and returns how many; forgets the batches first, so that no callback runs.
   * Resets counters, and removes unused lanes; queues of others are unlisted until another job comes.
   */
  async flush(): Promise<number> {
    let count = 0
    await this.#withoutPrefetched(async () => {
      count = await this.#flushAll()
    })
    return count
  }

  async #flushAll(): Promise<number> {
    let count = 0
    await this.#parts.store.batches.clear()
    const { store, registry, registrar } = this.#parts
    await this.#forEachLane(async (lane) => {
      const ended = await this.#end(lane, allPlaces)
      count += ended
    })
    const given = await store.lanes.giveBack([...registry.all()], atOnce)
    for (const [lane, number] of given) registrar.dropped(lane, number)
    await store.lanes.resetFormerTotals()
    await this.#forEachLane(async (lane) => {
      await store.queues.resetTotals(lane)
      await store.queues.markRemoved(lane)
    })
    return count
  }

  async #forEachLane(act: (lane: string) => Promise<void>): Promise<void> {
    const lanes = [...this.#parts.registry.all()]
    for (let first = 0; first < lanes.length; first += flushedAtOnce) {
      await Promise.all(lanes.slice(first, first + flushedAtOnce).map(act))
    }
  }

  /** Ends some queued jobs of a lane, one by one if they are far from both ends of the queue. */
  async endQueued(piece: QueuedPiece, as: Taken): Promise<readonly number[]> {
    const { store, waiters, observer } = this.#parts
    const all: number[] = []
    for (let at = 0; at < piece.ids.length; at += endedOfPiece) {
      const some = { ...piece, ids: piece.ids.slice(at, at + endedOfPiece) }
      const ids = await store.queues.endQueued(some, as)
      const ended = ids === 'deep' ? await this.#cancelEach(some, as) : ids
      if (ended.length > 0 && as !== 'withdrawn') observer.acted(piece.lane, as, ended.length)
      for (const id of ended) waiters.notify({ lane: piece.lane, id }, { kind: 'fail' })
      all.push(...ended)
    }
    return all
  }

  /** Time at which the oldest queued job of a queue was queued, milliseconds since 1970. */
  async oldest(queue: string): Promise<number | undefined> {
    const { store, registry } = this.#parts
    const lanes = registry.ofQueue(queue)
    if (lanes.length === 0) return undefined
    const since = await store.queues.oldest(lanes)
    const found = since.filter((ms) => ms !== undefined)
    return found.length === 0 ? undefined : Math.min(...found)
  }

  /** Called for news of a worker from any node. */
  #onNews(wid: string, news: ConsumerNews): void {
    for (const listener of this.#newsListeners) listener(wid, news)
  }

  async #setPaused(queues: readonly string[], paused: boolean, note?: PauseNote): Promise<void> {
    if (queues.length === 0) return
    await this.#parts.store.queues.setPaused(queues, paused, note)
    await this.load()
  }

  #noteOf(who: string | undefined): PauseNote | undefined {
    return who === undefined ? undefined : { who, atMs: this.#parts.heartbeat.storeNowMs() }
  }

  /** Prefetched jobs would be counted as running. */
  async #withoutPrefetched(act: () => Promise<void> | void): Promise<void> {
    const { events } = this.#parts
    try {
      await events.emitInTurn('prefetchEnds')
      await act()
    } finally {
      events.emit('prefetchResumed')
    }
  }

  /** A job deep in a queue is found by its time of arrival, in a script of its own. */
  async #cancelEach({ lane, ids }: QueuedPiece, as: Taken): Promise<readonly number[]> {
    const { admin } = this.#parts.store
    const ended: number[] = []
    for (const id of ids) if (await admin.cancel(lane, id, as)) ended.push(id)
    return ended
  }

  async #end(lane: string, places: readonly JobPlace[]): Promise<number> {
    for (let count = 0; ;) {
      const ids = await this.#parts.store.queues.endJobs(lane, places, endedPerStep)
      if (ids.length > 0) this.#parts.observer.acted(lane, 'deleted', ids.length)
      for (const id of ids) this.#parts.waiters.notify({ lane, id }, { kind: 'fail' })
      count += ids.length
      if (ids.length < endedPerStep) return count
    }
  }
}
