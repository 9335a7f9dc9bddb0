import type { LaneRegistry } from '../model/lane-registry.ts'

/** Goes round all lanes, some per turn, or all if they are few. */
export class LaneRounds {
  readonly #registry: LaneRegistry
  readonly #least: number
  readonly #turns: number
  #lanes: readonly string[] = []
  #next = 0

  /** A turn takes `least` lanes, or more so that a round takes at most `turns`. */
  constructor(registry: LaneRegistry, min: number, turns: number) {
    this.#registry = registry
    this.#least = min
    this.#turns = turns
  }

  /** The next turn begins a round. */
  get isOver(): boolean {
    return this.#next >= this.#lanes.length
  }

  next(): readonly string[] {
    if (this.isOver) {
      this.#lanes = [...this.#registry.all()]
      this.#next = 0
    }
    const share = Math.max(this.#least, Math.ceil(this.#lanes.length / this.#turns))
    const some = this.#lanes.slice(this.#next, this.#next + share)
    this.#next += share
    return some
  }
}
