/** Lanes in the order in which they came. One of 65,000 leaves at once; the list is made anew when it is asked for next. */
export class LaneList {
  readonly #lanes = new Set<string>()
  #list: string[] | undefined = []

  get size(): number {
    return this.#lanes.size
  }

  add(lane: string): void {
    if (this.#lanes.has(lane)) return
    this.#lanes.add(lane)
    this.#list?.push(lane)
  }

  delete(lane: string): void {
    if (this.#lanes.delete(lane)) this.#list = undefined
  }

  all(): readonly string[] {
    this.#list ??= [...this.#lanes]
    return this.#list
  }
}
