import type { LanePoller } from '../maintenance/lane-poller.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Observer } from '../observer.ts'
import type { Store } from '../store/store.ts'
import type { LaneRegistrar } from './lane-registrar.ts'

interface Parts {
  readonly store: Store
  readonly registry: LaneRegistry
  readonly registrar: LaneRegistrar
  readonly lanePoller: LanePoller
  readonly observer: Pick<Observer, 'error'>
}

/**
 * Registers lanes that native clients announce, one announcement of a lane at a time. A message may
 * come from another database: a lane is added only if its job is in this one.
 */
export class NewLanes {
  readonly #parts: Parts
  /** The newest announcement of each lane being looked at; 0: none came meanwhile. */
  readonly #next = new Map<string, number>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  announced(lane: string, id: number): void {
    const isLooking = this.#next.has(lane)
    this.#next.set(lane, isLooking ? id : 0)
    if (!isLooking) void this.#look(lane, id)
  }

  async #look(lane: string, first: number): Promise<void> {
    const { store, registry, registrar, lanePoller, observer } = this.#parts
    try {
      for (let id = first; id !== 0; id = this.#next.get(lane) ?? 0) {
        this.#next.set(lane, 0)
        const [job] =
          registry.numberOf(lane) === undefined ? await store.jobs.look(lane, [id]) : [true]
        if (!job) continue
        await registrar.register(lane)
        lanePoller.news(lane)
        return
      }
    } catch (error) {
      observer.error('new lane', error)
    } finally {
      this.#next.delete(lane)
    }
  }
}
