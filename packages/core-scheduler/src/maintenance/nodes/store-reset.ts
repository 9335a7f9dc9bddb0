import type { LaneRegistry } from '../../model/lane-registry.ts'
import type { Waiters } from '../../results/waiters.ts'
import type { SchedulerEmitter } from '../../scheduler-events.ts'
import type { Store } from '../../store/store.ts'
import { BackgroundLoop, type LoopParts } from '../background-loop.ts'
import { beatEveryMs } from './heartbeat.ts'

/** Lanes per call. */
const askedAtOnce = 500

interface Parts extends LoopParts {
  readonly store: Pick<Store, 'lanes' | 'nodes'>
  readonly registry: LaneRegistry
  readonly waiters: Waiters
  readonly events: SchedulerEmitter
}

/** Restores this node's state in a store that lost its data or took this node for dead. */
export class StoreReset extends BackgroundLoop {
  readonly #parts: Parts
  /** True until the store has all of this node's state again. */
  #wasReset = false

  constructor(parts: Parts) {
    super(parts, { name: 'store reset', everyMs: beatEveryMs, run: () => this.#remind() })
    this.#parts = parts
    parts.events.on('beat', (wasReset) => {
      if (!wasReset) return
      this.#wasReset = true
      // Until then, jobs of its waiting clients may be dropped as if nobody waited.
      this.runNow()
    })
  }

  async #remind(): Promise<void> {
    if (!this.#wasReset) return
    const { store, registry, waiters, events } = this.#parts
    // A later beat may set it again.
    this.#wasReset = false
    try {
      await this.#relearnLanes()
      // Native programs and callbacks of batches take ids without a look at the epoch.
      await store.lanes.skipLostIds([...registry.all()])
      for (const [lane, clients] of waiters.clients()) await store.nodes.waitAgain(lane, clients)
      await events.emitInTurn('storeReset')
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
