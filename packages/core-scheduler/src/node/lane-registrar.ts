import type { WorkerCounts } from './worker-counts.ts'
import { maxLanes } from '../model/lane-registry.ts'
import { toStoreError, tooManyLanes } from '../model/store-errors.ts'
import type { NodeParts } from './node-parts.ts'
import type { Steps } from './steps.ts'

interface Parts extends NodeParts {
  readonly counts: WorkerCounts
  readonly steps: Pick<Steps, 'countOutside'>
}

/** Registers new lanes in the store, each once at a time, and takes dropped ones from the registry. */
export class LaneRegistrar {
  readonly #parts: Parts
  readonly #registering = new Map<string, Promise<number>>()
  /** Lanes now being registered that were dropped meanwhile, with the numbers that they had. */
  readonly #dropped = new Map<string, number>()

  constructor(parts: Parts) {
    this.#parts = parts
    parts.events.on('laneAdded', (lane, number) => this.added(lane, number))
    parts.events.on('laneDropped', (lane, number) => this.dropped(lane, number))
  }

  /** The lane's number. A new lane is registered first, with this node's worker counts. */
  register(lane: string): Promise<number> {
    const { registry } = this.#parts
    const known = registry.numberOf(lane)
    if (known !== undefined) return Promise.resolve(known)
    const pending = this.#registering.get(lane)
    if (pending) return pending
    if (registry.size >= maxLanes) {
      return Promise.reject(tooManyLanes())
    }
    const registering = this.#registerNew(lane).finally(() => {
      this.#registering.delete(lane)
      this.#dropped.delete(lane)
    })
    this.#registering.set(lane, registering)
    this.#parts.steps.countOutside(registering)
    return registering
  }

  /** True while the lane is being registered. */
  registers(lane: string): boolean {
    return this.#registering.has(lane)
  }

  get isRegistering(): boolean {
    return this.#registering.size > 0
  }

  /** Settles when the lanes now being registered have their numbers, or failed. */
  async registered(): Promise<void> {
    await Promise.allSettled(this.#registering.values())
  }

  /** The store has registered a lane. Settles when it has this node's worker counts. */
  async added(lane: string, number: number): Promise<void> {
    const { registry, counts, events } = this.#parts
    if (!registry.add(lane, number)) return
    events.emit('laneCreated', lane)
    await counts.laneAdded(lane)
  }

  /** Learns of a lane that was registered before this node knew of it. */
  async loaded(lane: string, number: number): Promise<void> {
    const { registry, counts } = this.#parts
    if (registry.add(lane, number)) await counts.laneAdded(lane)
  }

  /** The store has dropped a lane that had this number. One with workers of this node comes again. */
  dropped(lane: string, number: number): void {
    const { registry, counts, observer } = this.#parts
    if (this.#registering.has(lane)) this.#dropped.set(lane, number)
    if (!registry.remove(lane, number) || !counts.hasNamed(lane)) return
    this.register(lane).catch((error: unknown) => observer.error('new lane', toStoreError(error)))
  }

  async #registerNew(lane: string): Promise<number> {
    const { store } = this.#parts
    let [former, number] = [0, await store.lanes.register(lane)]
    // A store that gives the same number again has it: the end of the lane that was heard of is lost.
    while (number <= (this.#dropped.get(lane) ?? 0) && number !== former) {
      ;[former, number] = [number, await store.lanes.register(lane)]
    }
    await this.added(lane, number)
    return number
  }
}
