import { limitedFunction } from '../model/limit-names.ts'
import type { NodeContext } from '../node/node-context.ts'
import { LaneRounds } from '../node/lane-rounds.ts'
import type { IdleWorker } from '../node/idle-workers.ts'
import type { LaneSearches } from './lane-searches.ts'

/** Up to this many lanes are polled one by one for a worker that becomes idle. */
const fewLanes = 64
/** Lanes that a sweep passes in search of idle workers, and those with idle workers that it asks the store about. */
const passedAtOnce = 2_000
const sweptAtOnce = 8
/** Delays of the polls for a job that is announced before it is pushed, milliseconds. */
const pollsAfterMs = [0, 2, 20, 200]
/** If no worker was idle at the announcement, delay before one that is idle now is served, milliseconds. */
const pollAgainMs = 20

interface Parts extends NodeContext {
  readonly searches: LaneSearches
}

/** Finds jobs that were not submitted at this node, and wakes workers for them. */
export class IdleSearch {
  readonly #parts: Parts
  readonly #rounds: LaneRounds
  readonly #toPoll = new Map<string, number>()
  readonly #toPollAgain = new Set<string>()
  #isPolling = false

  constructor(parts: Parts) {
    const { events, registry, tasks } = parts
    this.#parts = parts
    this.#rounds = new LaneRounds(registry, 1, Infinity)
    events.on('lanesWatched', (fresh) => this.#catchUp(fresh))
    events.on('throttleReleased', (limit) => {
      const fn = limitedFunction(limit)
      const lanes = fn === undefined ? registry.ofQueue(limit) : registry.ofFunction(fn)
      return this.#wakeFor(lanes, Infinity)
    })
    events.on('roomMade', (lane, jobs) =>
      this.#wakeFor(registry.ofFunction(registry.names.parse(lane).fn), jobs),
    )
    tasks.add({ name: 'sweep', isFirst: true, run: () => this.#sweep() })
  }

  /** A job was announced. A worker that becomes idle before it is pushed must not miss it. */
  announced(lane: string): void {
    const { clock, wakeups } = this.#parts
    if (wakeups.hasIdle(lane)) {
      this.#pollSoon(lane, 0)
      return
    }
    // A job came, or will soon; no worker is idle that could be woken.
    wakeups.countArrival(lane)
    if (this.#toPollAgain.has(lane)) return
    this.#toPollAgain.add(lane)
    clock.after(pollAgainMs, () => {
      this.#toPollAgain.delete(lane)
      wakeups.countArrival(lane)
      this.#pollSoon(lane, 0)
    })
  }

  /** Wakes a worker that has just become idle if it overlooked a job. */
  async lookFor(worker: IdleWorker): Promise<void> {
    const { registry, pauses, searches, store, wakeups } = this.#parts
    const { by } = worker.subscription
    const all = searches.of(worker.subscription)?.likelyGroups()
    // A job of a paused lane would wake it again and again.
    const { groups, paused } = pauses.unpaused(by, all ?? worker.subscription.groups(registry))
    const count = groups.reduce((sum, { lanes }) => sum + lanes.length, 0) - paused.size
    await this.#reported(async () => {
      // A consumer's own claim has asked the index of its queues already.
      if (by === 'named' || count <= fewLanes) {
        const lanes = groups.flatMap((group) => group.lanes.filter((lane) => !paused.has(lane)))
        if ((await store.lanes.nonEmpty(lanes)).length === 0) return
      }
      if (wakeups.idle.has(worker)) wakeups.wakeOne(worker)
    })
  }

  /** Wakes a worker for each of these lanes that has jobs. */
  async wakeIdle(lanes: readonly string[]): Promise<void> {
    await this.#wakeFor(
      lanes.filter((lane) => this.#parts.wakeups.hasIdle(lane)),
      1,
    )
  }

  /** The safety net: finds queued jobs that idle workers have missed. */
  async #sweep(): Promise<void> {
    const { registry, wakeups } = this.#parts
    if (wakeups.idle.size === 0) return
    const found: string[] = []
    const max = Math.min(passedAtOnce, registry.size)
    for (let passed = 0; passed < max && found.length < sweptAtOnce; passed += 1) {
      for (const lane of this.#rounds.next()) if (wakeups.hasIdle(lane)) found.push(lane)
    }
    await this.wakeIdle(found)
  }

  async #catchUp(fresh: ReadonlySet<string> | 'all'): Promise<void> {
    if (fresh === 'all') await this.#discover()
    await this.wakeIdle([...(fresh === 'all' ? this.#parts.registry.all() : fresh)])
  }

  /** Consumers name no functions: lanes made by native clients have to be found for them. */
  async #discover(): Promise<void> {
    const { wakeups, registry, store, registrar } = this.#parts
    if (!wakeups.idle.hasConsumers()) return
    const isKnown = (lane: string): boolean => registry.numberOf(lane) !== undefined
    for (const lane of await store.lanes.discover(isKnown)) await registrar.register(lane)
  }

  async #wakeFor(lanes: readonly string[], jobs: number): Promise<void> {
    const { wakeups, store } = this.#parts
    if (wakeups.idle.size === 0 || lanes.length === 0) return
    for (const lane of await store.lanes.nonEmpty(lanes)) wakeups.wake(lane, jobs)
  }

  /** Polls a lane at the end of this turn, and again later while it finds nothing. */
  #pollSoon(lane: string, attempt: number): void {
    const { store, clock, wakeups } = this.#parts
    const waitMs = pollsAfterMs[attempt]
    if (waitMs === undefined) {
      void this.#reported(() => store.lanes.heal([lane]))
      return
    }
    if (!wakeups.hasIdle(lane)) return
    if (waitMs > 0) {
      clock.after(waitMs, () => {
        if (wakeups.hasIdle(lane)) void this.#poll(new Map([[lane, 1]]), attempt)
      })
      return
    }
    this.#toPoll.set(lane, (this.#toPoll.get(lane) ?? 0) + 1)
    if (this.#isPolling) return
    this.#isPolling = true
    clock.endOfTurn(() => {
      this.#isPolling = false
      const announced = new Map(this.#toPoll)
      this.#toPoll.clear()
      void this.#poll(announced, 0)
    })
  }

  #poll(announced: ReadonlyMap<string, number>, attempt: number): Promise<void> {
    const { store, wakeups } = this.#parts
    return this.#reported(async () => {
      const found = new Set(await store.lanes.nonEmpty([...announced.keys()]))
      for (const [lane, jobs] of announced) {
        if (found.has(lane)) wakeups.wake(lane, jobs)
        else this.#pollSoon(lane, attempt + 1)
      }
    })
  }

  async #reported(run: () => Promise<unknown>): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.#parts.observer.error('poll for a job', error)
    }
  }
}
