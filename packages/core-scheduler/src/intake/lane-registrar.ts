import type { WorkerCounts } from '../maintenance/nodes/worker-counts.ts'
import { maxLanes, type LaneRegistry } from '../model/lane-registry.ts'
import { StoreError } from '../store/store-errors.ts'
import type { Store } from '../store/store.ts'

interface Parts {
  readonly store: Store
  readonly registry: LaneRegistry
  readonly counts: WorkerCounts
}

/** Registers new lanes in the store, each once at a time. */
export class LaneRegistrar {
  readonly #parts: Parts
  readonly #registering = new Map<string, Promise<number>>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The lane's number. A new lane is registered first, with this node's worker counts. */
  register(lane: string): Promise<number> {
    const { registry } = this.#parts
    const known = registry.numberOf(lane)
    if (known !== undefined) return Promise.resolve(known)
    const pending = this.#registering.get(lane)
    if (pending) return pending
    if (registry.size >= maxLanes) {
      return Promise.reject(new StoreError('TOO_MANY_LANES', `more than ${maxLanes} functions`))
    }
    const registering = this.#registerNew(lane).finally(() => this.#registering.delete(lane))
    this.#registering.set(lane, registering)
    return registering
  }

  get isRegistering(): boolean {
    return this.#registering.size > 0
  }

  /** Settles when the lanes now being registered have their numbers, or failed. */
  async registered(): Promise<void> {
    await Promise.allSettled(this.#registering.values())
  }

  async #registerNew(lane: string): Promise<number> {
    const { store, registry, counts } = this.#parts
    const number = await store.lanes.register(lane)
    if (registry.add(lane, number)) await counts.laneAdded(lane)
    return number
  }
}
