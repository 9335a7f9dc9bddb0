import type { LaneStore, WorkerCount } from '../store/lane-ports.ts'
import type { NodeParts } from './node-parts.ts'

/** The store may or may not have this count. */
const unknown = 'unknown'
/** Lanes per call, about a millisecond of the store's time. */
const lanesPerCall = 32
/** Lanes looked at in one turn of the event loop, under a millisecond's work. */
const lanesPerTurn = 1_000

interface Parts extends Pick<NodeParts, 'registry' | 'events'> {
  readonly store: { readonly lanes: Pick<LaneStore, 'setWorkers'> }
  readonly clock: Pick<NodeParts['clock'], 'endOfTurn'>
  readonly observer: Pick<NodeParts['observer'], 'error'>
}

/**
 * Keeps the store's worker counts for this node: named workers count in all lanes of their function, consumers in all
 * lanes of their queue. Changes are published in calls of bounded size, one at a time.
 */
export class WorkerCounts {
  readonly #parts: Parts
  readonly #named = new Map<string, number>()
  /** The same, for all lanes of a function. */
  readonly #namedOfFunction = new Map<string, number>()
  /** By queue; those without a function's label. */
  readonly #consumers = new Map<string, number>()
  /** Consumers with a function's label, by function and queue. */
  readonly #labelled = new Map<string, number>()
  /** Lanes without workers stay: the store may lose that their last one has left. */
  readonly #published = new Map<string, string>()
  #sending: Promise<void> | undefined
  /** Lanes whose counts may have changed. */
  readonly #dirty = new Set<string>()
  /** New lanes, each with those who wait until the store has its counts. */
  readonly #fresh = new Map<string, (() => void)[]>()
  #isSendingFresh = false
  /** Queues of which all lanes may have changed, each with its lanes that are left. */
  readonly #dirtyQueues = new Map<string, Iterator<string>>()

  constructor(parts: Parts) {
    this.#parts = parts
    parts.events.on('beat', (wasReset) => {
      if (wasReset) this.republishAll()
      else this.#retry()
    })
    parts.events.on('reconnected', () => this.republishAll())
    parts.events.on('laneRemoved', (lane) => void this.#published.delete(lane))
  }

  /** True if by-name workers of this node named the lane. */
  hasNamed(lane: string): boolean {
    return this.#named.has(lane)
  }

  /** `lane`: a function's home lane, which stands for all its lanes, or one lane of it. */
  named(lane: string, change: 1 | -1): void {
    const { fn } = this.#parts.registry.names.parse(lane)
    count(this.#named, lane, change)
    count(this.#namedOfFunction, fn, change)
    for (const one of [lane, fn, ...this.#parts.registry.ofFunction(fn)]) this.#dirty.add(one)
    this.#publish()
  }

  /** `functions`: those of the consumer's labels, if any. */
  consumer(queue: string, change: 1 | -1, functions?: ReadonlySet<string>): void {
    if (functions) this.#labelledConsumer(queue, change, functions)
    else this.#consumerOfAll(queue, change)
    this.#publish()
  }

  #labelledConsumer(queue: string, change: 1 | -1, functions: ReadonlySet<string>): void {
    for (const fn of functions) {
      count(this.#labelled, labelledKey(fn, queue), change)
      const lane = this.#parts.registry.names.lane(fn, queue)
      // A lane that is not registered yet is published when it is.
      if (this.#parts.registry.numberOf(lane) !== undefined) this.#dirty.add(lane)
    }
  }

  #consumerOfAll(queue: string, change: 1 | -1): void {
    count(this.#consumers, queue, change)
    const lanes = this.#parts.registry.ofQueue(queue)
    if (lanes.length > 0) this.#dirtyQueues.set(queue, lanes.values())
  }

  /** The lanes are of another queue now, with other consumers. */
  lanesMoved(lanes: Iterable<string>): void {
    for (const lane of lanes) this.#dirty.add(lane)
    this.#publish()
  }

  /** Settles when the store has this node's worker counts of the lane. */
  async laneAdded(lane: string): Promise<void> {
    const { fn } = this.#parts.registry.names.parse(lane)
    const counted = [lane, fn].filter((one) => this.#figuresOf(one) !== none)
    await Promise.all(
      counted.map((one) => {
        return new Promise<void>((resolve) => {
          this.#dirty.delete(one)
          this.#fresh.set(one, [...(this.#fresh.get(one) ?? []), resolve])
          if (!this.#isSendingFresh) void this.#notifyFresh()
        })
      }),
    )
  }

  /** The store has lost this node's counts. */
  republishAll(): void {
    for (const lane of this.#published.keys()) {
      this.#published.set(lane, unknown)
      this.#dirty.add(lane)
    }
    for (const queue of this.#parts.registry.queues()) {
      this.#dirtyQueues.set(queue, this.#parts.registry.ofQueue(queue).values())
    }
    for (const lane of this.#named.keys()) this.#dirty.add(lane)
    this.#publish()
  }

  /** Settles when the store has the current counts, or cannot be reached. */
  async published(): Promise<void> {
    await this.#sending
  }

  /** Publishes again the counts that the store refused. */
  #retry(): void {
    for (const [lane, published] of this.#published)
      if (published === unknown) this.#dirty.add(lane)
    if (this.#dirty.size > 0) this.#publish()
  }

  #publish(): void {
    this.#sending ??= this.#notifyAll().finally(() => {
      this.#sending = undefined
    })
  }

  /** New lanes wait for no others. Those that come during a call are the next one. */
  async #notifyFresh(): Promise<void> {
    this.#isSendingFresh = true
    while (this.#fresh.size > 0) {
      const some = [...this.#fresh].slice(0, lanesPerCall)
      for (const [lane] of some) this.#fresh.delete(lane)
      await this.#notifyLanes(some.map(([lane]) => lane))
      for (const [, waiting] of some) for (const resolve of waiting) resolve()
    }
    this.#isSendingFresh = false
  }

  async #notifyAll(): Promise<void> {
    await Promise.resolve()
    while (this.#dirty.size + this.#dirtyQueues.size > 0) {
      const lanes: string[] = []
      for (let looked = 0; looked < lanesPerTurn && lanes.length < lanesPerCall; looked += 1) {
        const lane = this.#nextDirty()
        if (lane === undefined) break
        if (this.#needsNotice(lane)) lanes.push(lane)
      }
      if (lanes.length > 0) await this.#notifyLanes(lanes)
      else await new Promise<void>((resolve) => this.#parts.clock.endOfTurn(resolve))
    }
  }

  #nextDirty(): string | undefined {
    for (const lane of this.#dirty) {
      this.#dirty.delete(lane)
      return lane
    }
    for (const [queue, left] of this.#dirtyQueues) {
      const next = left.next()
      if (next.done !== true) return next.value
      this.#dirtyQueues.delete(queue)
    }
    return undefined
  }

  #needsNotice(lane: string): boolean {
    return this.#figuresOf(lane) !== (this.#published.get(lane) ?? none)
  }

  #figuresOf(lane: string): string {
    return textOf(this.#countOf(lane))
  }

  #countOf(lane: string): Required<WorkerCount> {
    const { fn, queue } = this.#parts.registry.names.parse(lane)
    const of = (one: string): number => this.#named.get(one) ?? 0
    const named = of(lane) + (lane === fn ? 0 : of(fn))
    const isLabelled = this.#labelled.size > 0
    // Nobody would take them back from a lane that is not registered.
    const isRegistered = this.#parts.registry.numberOf(lane) !== undefined
    const hasLabels = isRegistered && isLabelled
    const labelled = (hasLabels && this.#labelled.get(labelledKey(fn, queue))) || 0
    return {
      named,
      consumers: isRegistered ? (this.#consumers.get(queue) ?? 0) + labelled : 0,
      labelled,
      elsewhere: (this.#namedOfFunction.get(fn) ?? 0) - named,
    }
  }

  async #notifyLanes(lanes: readonly string[]): Promise<void> {
    const counts = new Map<string, Required<WorkerCount>>()
    for (const lane of lanes) if (this.#needsNotice(lane)) counts.set(lane, this.#countOf(lane))
    if (counts.size === 0) return
    try {
      const refused = await this.#parts.store.lanes.setWorkers(counts)
      for (const [lane, published] of counts) {
        this.#published.set(lane, refused.has(lane) ? unknown : textOf(published))
        // The lane was dropped meanwhile: nobody else would take its consumers back.
        if (!refused.has(lane) && this.#needsNotice(lane)) this.#dirty.add(lane)
      }
      for (const error of refused.values()) this.#parts.observer.error('worker counts', error)
    } catch (error) {
      for (const lane of counts.keys()) this.#published.set(lane, unknown)
      this.#parts.observer.error('worker counts', error)
    }
  }
}

const none = textOf({ named: 0, consumers: 0, labelled: 0, elsewhere: 0 })

/** Queues have no `@` in their names. */
function labelledKey(fn: string, queue: string): string {
  return `${fn}@${queue}`
}

function textOf({ named, consumers, labelled, elsewhere }: Required<WorkerCount>): string {
  return `${named} ${consumers} ${labelled} ${elsewhere}`
}

function count(counts: Map<string, number>, key: string, change: number): void {
  const next = (counts.get(key) ?? 0) + change
  if (next > 0) counts.set(key, next)
  else counts.delete(key)
}
