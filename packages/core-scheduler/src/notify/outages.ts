import type { NodeContext } from '../node/node-context.ts'

/** Makes up for the events that were missed while the store was away. */
export class Outages {
  readonly #parts: NodeContext
  /** True while events arrive. */
  #isListening = true
  #outages = 0
  /** Drops of lanes may have been missed. */
  #mayHoldLost = false

  constructor(parts: NodeContext) {
    const { events, tasks } = parts
    this.#parts = parts
    events.on('up', () => this.#up())
    events.on('down', (reason) => this.#down(reason))
    events.on('beat', (wasReset) => this.#onBeat(wasReset))
    const run = (): Promise<void> => this.#catchUp()
    tasks.add({ name: 'catch up after reconnecting', isFirst: true, run })
  }

  async loadLanes(): Promise<void> {
    const { store, registrar } = this.#parts
    for (const [lane, number] of await store.lanes.all()) void registrar.added(lane, number)
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
  async #onBeat(wasReset: boolean): Promise<void> {
    if (!this.#mayHoldLost || !this.#isListening) return
    if (wasReset) this.#mayHoldLost = false
    else await this.#dropLost()
  }

  /** Lanes that the store has no more leave the registry. One that comes meanwhile stays. */
  async #dropLost(): Promise<void> {
    const { registry, registrar, store } = this.#parts
    const outages = this.#outages
    const known = [...registry.entries()]
    const kept = await store.lanes.all()
    for (const [lane, number] of known) if (!kept.has(lane)) registrar.dropped(lane, number)
    if (outages === this.#outages) this.#mayHoldLost = false
  }
}
