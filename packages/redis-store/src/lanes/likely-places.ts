/**
 * Places in which lanes once had something, as bits. A look asks of each for its size, and of all others of many lanes at
 * once if there is any: only the cost of a look depends on it.
 */
export class LikelyPlaces {
  readonly #byLane = new Map<string, number>()
  readonly #mostLanes: number

  constructor(mostLanes: number) {
    this.#mostLanes = mostLanes
  }

  /** A character for each lane. */
  of(lanes: readonly string[]): string {
    return String.fromCharCode(...lanes.map((lane) => this.#byLane.get(lane) ?? 0))
  }

  add(lane: string, places: number): void {
    const before = this.#byLane.get(lane) ?? 0
    if ((before | places) === before) return
    // Lanes that were given back are in it, too.
    if (before === 0 && this.#byLane.size >= this.#mostLanes) this.#byLane.clear()
    this.#byLane.set(lane, before | places)
  }
}
