import type { NodeContext } from '../node/node-context.ts'

/** Lanes per call. */
const askedAtOnce = 500

/** Restores this node's state in a store that lost its data or took this node for dead. */
export class StoreReset {
  readonly #parts: NodeContext
  /** True until the store has all of this node's state again. */
  #wasReset = false
  #hasBeaten = false
  /** The store knew this node before: its operator sees in the log what it lost meanwhile. */
  #isNews = false

  constructor(parts: NodeContext) {
    this.#parts = parts
    const run = (): Promise<void> => this.#remind()
    const loop = parts.tasks.add({ name: 'store reset', isFirst: true, run })
    parts.events.on('beat', (wasReset) => {
      const isFirst = !this.#hasBeaten
      this.#hasBeaten = true
      if (!wasReset) return
      this.#wasReset = true
      this.#isNews ||= !isFirst
      // Until then, jobs of its waiting clients may be dropped as if nobody waited.
      loop.runNow()
    })
  }

  async #remind(): Promise<void> {
    if (!this.#wasReset) return
    const { store, registry, waiters, events, activeLeases, observer } = this.#parts
    // A later beat may set it again.
    this.#wasReset = false
    try {
      await this.#relearnLanes()
      // Native programs take ids without a look at the epoch.
      await store.lanes.skipLostIds([...registry.all()])
      for (const [lane, clients] of waiters.clients()) await store.nodes.waitAgain(lane, clients)
      await events.emitInTurn('storeReset')
      if (this.#isNews) observer.forgotten(await activeLeases.compare(store))
      this.#isNews = false
    } catch (error) {
      this.#wasReset = true
      throw error
    }
  }

  /** Lanes may get other numbers in a store that came back empty. */
  async #relearnLanes(): Promise<void> {
    const { store, registry } = this.#parts
    const kept = await store.lanes.all()
    const lost = [...registry.all()].filter((lane) => kept.get(lane) !== registry.numberOf(lane))
    const numbers: number[] = []
    for (let at = 0; at < lost.length; at += askedAtOnce) {
      const some = lost.slice(at, at + askedAtOnce)
      numbers.push(...(await Promise.all(some.map((lane) => store.lanes.register(lane)))))
    }
    for (const lane of lost) registry.remove(lane)
    for (const [at, lane] of lost.entries()) registry.add(lane, numbers[at] ?? 0)
  }
}
