import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Store, WorkerCount } from '../store/ports.ts'

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
    const { fn } = this.#registry.names.parse(lane)
    for (const one of [lane, fn, ...this.#registry.ofFunction(fn)]) this.#dirty.add(one)
    this.#tell()
  }

  consumer(queue: string, change: 1 | -1): void {
    count(this.#consumers, queue, change)
    for (const lane of this.#registry.ofQueue(queue)) this.#dirty.add(lane)
    this.#tell()
  }

  /** Settles when the store has this node's workers for the lane. */
  async laneAdded(lane: string): Promise<void> {
    const { fn } = this.#registry.names.parse(lane)
    if (this.#figuresOf(lane) === none && this.#figuresOf(fn) === none) return
    this.#dirty.add(lane).add(fn)
    this.#tell()
    await this.told()
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

  #figuresOf(lane: string): string {
    return textOf(this.#countOf(lane))
  }

  #countOf(lane: string): Required<WorkerCount> {
    const { fn, queue } = this.#registry.names.parse(lane)
    const of = (one: string): number => this.#named.get(one) ?? 0
    const others = this.#registry.ofFunction(fn).filter((other) => other !== lane && other !== fn)
    return {
      named: of(lane) + (lane === fn ? 0 : of(fn)),
      consumers: this.#consumers.get(queue) ?? 0,
      elsewhere: others.reduce((sum, other) => sum + of(other), 0),
    }
  }

  async #tellLane(lane: string): Promise<void> {
    const count = this.#countOf(lane)
    const figures = textOf(count)
    if (figures === (this.#told.get(lane) ?? none)) return
    try {
      await this.#store.setWorkers(lane, count)
      this.#told.set(lane, figures)
    } catch (error) {
      this.#told.set(lane, unknown)
      this.#trouble('worker counts', error)
    }
  }
}

const none = textOf({ named: 0, consumers: 0, elsewhere: 0 })

function textOf({ named, consumers, elsewhere }: Required<WorkerCount>): string {
  return `${named} ${consumers} ${elsewhere}`
}

function count(counts: Map<string, number>, key: string, change: number): void {
  const next = (counts.get(key) ?? 0) + change
  if (next > 0) counts.set(key, next)
  else counts.delete(key)
}
