import type { LaneRegistrar } from '../intake/lane-registrar.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Store } from '../store/store.ts'
import { LaneRounds } from './lane-rounds.ts'

/** A lane unused for this long is given back: 7 days, in milliseconds. */
const idleForMs = 7 * 24 * 3_600_000
/** Beats from one look to the next. */
const beatsPerLook = 60
/** Lanes per look; more lanes take turns, all within an hour. */
const lanesPerLook = 64
const looksPerRound = 60

interface Parts {
  readonly store: Store
  readonly registry: LaneRegistry
  readonly registrar: LaneRegistrar
}

/** Gives back unused lanes, so that there is always room for new ones. */
export class IdleLanes {
  readonly #parts: Parts
  readonly #rounds: LaneRounds
  #beats = 0
  /** Given back by the last look, which may have missed a job that came at that moment. */
  #given: readonly string[] = []

  constructor(parts: Parts) {
    this.#parts = parts
    this.#rounds = new LaneRounds(parts.registry, lanesPerLook, looksPerRound)
  }

  /** Called once a second by one node. */
  async beat(): Promise<void> {
    const { store, registry, registrar } = this.#parts
    if (this.#given.length > 0) {
      const given = this.#given
      this.#given = []
      for (const lane of await store.lanes.nonEmpty(given)) await registrar.register(lane)
    }
    this.#beats += 1
    if (this.#beats % beatsPerLook !== 0) return
    this.#given = await store.lanes.giveBack(this.#rounds.next(), idleForMs)
    for (const lane of this.#given) registry.remove(lane)
  }
}
