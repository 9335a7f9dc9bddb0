import type { LaneRegistrar } from '../intake/lane-registrar.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Store } from '../store/store.ts'
import { BackgroundLoop, type LoopParts } from './background-loop.ts'
import { LaneRounds } from './lane-rounds.ts'
import { beatEveryMs } from './nodes/heartbeat.ts'

/** A lane unused for this long is removed: 7 days, in milliseconds. */
const idleForMs = 7 * 24 * 3_600_000
/** Heartbeats from one check to the next. */
const beatsPerCheck = 60
/** Lanes per check; more lanes take turns, all within an hour. */
const lanesPerCheck = 64
const checksPerRound = 60

interface Parts extends LoopParts {
  readonly store: Pick<Store, 'lanes'>
  readonly registry: LaneRegistry
  readonly registrar: LaneRegistrar
  /** One node leads, and removes lanes for all. */
  readonly recovery: { readonly leads: boolean }
}

/** Removes unused lanes, so that there is always room for new ones. */
export class IdleLanes extends BackgroundLoop {
  readonly #parts: Parts
  readonly #rounds: LaneRounds
  #beats = 0
  /** Removed by the last check, which may have missed a job that came at that moment. */
  #given: readonly string[] = []

  constructor(parts: Parts) {
    super(parts, { name: 'idle lanes', everyMs: beatEveryMs, run: () => this.#look() })
    this.#parts = parts
    this.#rounds = new LaneRounds(parts.registry, lanesPerCheck, checksPerRound)
  }

  async #look(): Promise<void> {
    const { store, registry, registrar, recovery } = this.#parts
    if (!recovery.leads) return
    if (this.#given.length > 0) {
      const given = this.#given
      this.#given = []
      for (const lane of await store.lanes.nonEmpty(given)) await registrar.register(lane)
    }
    this.#beats += 1
    if (this.#beats % beatsPerCheck !== 0) return
    this.#given = await store.lanes.giveBack(this.#rounds.next(), idleForMs)
    for (const lane of this.#given) registry.remove(lane)
  }
}
