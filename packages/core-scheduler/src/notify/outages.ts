import type { NodeContext } from '../node/node-context.ts'

/** Heartbeats in which the store has more or fewer lanes than the registry, until they are read: messages are under way. */
const beatsApart = 3
/** Heartbeats from then on until they are read again, as long as that goes on. */
const beatsBetweenReads = 10

/** Makes up for events that were missed: while the store was away, or as messages were lost. */
export class Outages {
  readonly #parts: NodeContext
  /** True while events arrive. */
  #isListening = true
  #outages = 0
  /** Drops of lanes may have been missed. */
  #mayHoldLost = false
  /** Heartbeats in a row. */
  #apart = 0

  constructor(parts: NodeContext) {
    const { events, tasks } = parts
    this.#parts = parts
    events.on('up', () => this.#up())
    events.on('down', (reason) => this.#down(reason))
    events.on('beat', (wasReset, lanes) => this.#onBeat(wasReset, lanes))
    const run = (): Promise<void> => this.#catchUp()
    tasks.add({ name: 'catch up after reconnecting', isFirst: true, run })
  }

  async loadLanes(): Promise<void> {
    const { store, registrar } = this.#parts
    for (const [lane, number] of await store.lanes.all()) void registrar.loaded(lane, number)
  }

  async #up(): Promise<void> {
    this.#isListening = true
    this.#parts.observer.store(true)
    await this.#catchUp()
  }

  #down(reason: string): void {
    this.#isListening = false
    this.#outages += 1
    this.#mayHoldLost = true
    this.#parts.subscriptions.lost()
    this.#parts.observer.store(false, reason)
  }

  /** If it fails, the next beat tries again. */
  async #catchUp(): Promise<void> {
    const { subscriptions, events } = this.#parts
    if (subscriptions.isCaughtUp || !this.#isListening) return
    const outages = this.#outages
    await this.loadLanes()
    await events.emitInTurn('reconnected')
    await events.emitInTurn('lanesWatched', 'all')
    if (outages === this.#outages) subscriptions.caughtUp()
  }

  /** A store that was reset gets the lanes of this node again. */
  async #onBeat(wasReset: boolean, lanes: number): Promise<void> {
    if (!this.#isListening) return
    if (wasReset) this.#mayHoldLost = false
    else if (this.#mayHoldLost || this.#isApart(lanes)) await this.#readLanes()
  }

  /** True if messages of new or dropped lanes were lost, as far as their number tells. */
  #isApart(lanes: number): boolean {
    this.#apart = lanes === this.#parts.registry.size ? 0 : this.#apart + 1
    return this.#apart % beatsBetweenReads === beatsApart
  }

  /** Lanes that the store has no more leave the registry, and missed ones come in. One that comes meanwhile stays. */
  async #readLanes(): Promise<void> {
    const { registry, registrar, store, events } = this.#parts
    const outages = this.#outages
    const known = [...registry.entries()]
    const kept = await store.lanes.all()
    for (const [lane, number] of known) if (!kept.has(lane)) registrar.dropped(lane, number)
    const missed = [...kept].filter(([lane, number]) => registry.numberOf(lane) !== number)
    for (const [lane, number] of missed) await registrar.added(lane, number)
    if (missed.length > 0) events.emit('lanesWatched', new Set(missed.map(([lane]) => lane)))
    if (outages === this.#outages) this.#mayHoldLost = false
  }
}
