import type { LaneRegistrar } from '../intake/lane-registrar.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { IdleTimes } from '../store/lane-ports.ts'
import type { Store } from '../store/store.ts'
import { BackgroundLoop, type LoopParts } from './background-loop.ts'
import { LaneRounds } from './lane-rounds.ts'
import { beatEveryMs } from './nodes/heartbeat.ts'

/** Lanes unused for so long are removed. */
const idle: IdleTimes = { unusedMs: 60_000, emptiedMs: 600_000, keptMs: 7 * 24 * 3_600_000 }
/** Heartbeats in which all lanes are checked, one call for each few lanes. */
const beatsPerRound = 60
const lanesPerCheck = 64

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
    this.#rounds = new LaneRounds(parts.registry, lanesPerCheck, beatsPerRound)
  }

  async #look(): Promise<void> {
    const { store, registrar, recovery } = this.#parts
    if (!recovery.leads) return
    if (this.#given.length > 0) {
      const given = this.#given
      this.#given = []
      for (const lane of await store.lanes.nonEmpty(given)) await registrar.register(lane)
    }
    this.#beats += 1
    if (this.#rounds.isOver && this.#beats % beatsPerRound !== 0) return
    const given = await store.lanes.giveBack(this.#rounds.next(), idle)
    for (const [lane, number] of given) registrar.dropped(lane, number)
    this.#given = [...given.keys()]
  }
}
