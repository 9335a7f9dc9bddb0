import type { LaneRegistry } from './lane-registry.ts'
import type { Store } from './ports.ts'

/** The store may have been told something, and may have forgotten it. */
const unknown = 'unknown'

/**
 * Keeps the store's worker counts true for this node: by-name workers of a function count in all
 * its lanes, consumers of a queue in all lanes of the queue.
 */
export class WorkerCounts {
  readonly #store: Store
  readonly #registry: LaneRegistry
  readonly #trouble: (task: string, error: unknown) => void
  readonly #named = new Map<string, number>()
  readonly #consumers = new Map<string, number>()
  readonly #told = new Map<string, string>()
  #telling: Promise<void> | undefined
  readonly #dirty = new Set<string>()

  constructor(
    store: Store,
    registry: LaneRegistry,
    trouble: (task: string, error: unknown) => void,
  ) {
    this.#store = store
    this.#registry = registry
    this.#trouble = trouble
  }

  /** `lane` is a function's home lane, and then stands for all its lanes, or one lane of it. */
  named(lane: string, change: 1 | -1): void {
    count(this.#named, lane, change)
    this.#dirty.add(lane)
    for (const other of this.#registry.ofFunction(lane)) this.#dirty.add(other)
    this.#tell()
  }

  consumer(queue: string, change: 1 | -1): void {
    count(this.#consumers, queue, change)
    for (const lane of this.#registry.ofQueue(queue)) this.#dirty.add(lane)
    this.#tell()
  }

  laneAdded(lane: string): void {
    this.#dirty.add(lane)
    this.#tell()
  }

  /** The store has forgotten what this node told it. */
  retell(): void {
    for (const lane of this.#told.keys()) this.#told.set(lane, unknown)
    for (const lane of this.#registry.all()) this.#dirty.add(lane)
    for (const lane of this.#named.keys()) this.#dirty.add(lane)
    this.#tell()
  }

  /** Tells again what the store did not take. */
  retry(): void {
    for (const [lane, told] of this.#told) if (told === unknown) this.#dirty.add(lane)
    if (this.#dirty.size > 0) this.#tell()
  }

  /** Settles when the store has the figures of now, or cannot be told. */
  async told(): Promise<void> {
    await this.#telling
  }

  #tell(): void {
    this.#telling ??= this.#tellAll().finally(() => {
      this.#telling = undefined
    })
  }

  async #tellAll(): Promise<void> {
    await Promise.resolve()
    while (this.#dirty.size > 0) {
      const lanes = [...this.#dirty]
      this.#dirty.clear()
      await Promise.all(lanes.map((lane) => this.#tellLane(lane)))
    }
  }

  async #tellLane(lane: string): Promise<void> {
    const { fn, queue } = this.#registry.names.parse(lane)
    const named = (this.#named.get(lane) ?? 0) + (lane === fn ? 0 : (this.#named.get(fn) ?? 0))
    const consumers = this.#consumers.get(queue) ?? 0
    const figures = `${named} ${consumers}`
    if (figures === (this.#told.get(lane) ?? '0 0')) return
    try {
      await this.#store.setWorkers(lane, { named, consumers })
      this.#told.set(lane, figures)
    } catch (error) {
      this.#told.set(lane, unknown)
      this.#trouble('worker counts', error)
    }
  }
}

function count(counts: Map<string, number>, key: string, change: number): void {
  const next = (counts.get(key) ?? 0) + change
  if (next > 0) counts.set(key, next)
  else counts.delete(key)
}
