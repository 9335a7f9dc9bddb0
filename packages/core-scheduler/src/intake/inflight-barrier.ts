interface Waiting {
  /** The last call that had left when the task came. */
  readonly behind: number
  readonly task: () => void
}

interface Lane {
  /** Calls under way, in the order in which they left. */
  readonly underWay: Set<number>
  readonly waiting: Waiting[]
}

/** Calls of submissions that are under way, by lane, and what waits for them. */
export class InflightBarrier {
  readonly #lanes = new Map<string, Lane>()
  #last = 0

  /** A call leaves. Returns what says so when it has been answered. */
  begin(lane: string): () => void {
    const flights: Lane = this.#lanes.get(lane) ?? { underWay: new Set(), waiting: [] }
    this.#lanes.set(lane, flights)
    this.#last += 1
    const number = this.#last
    flights.underWay.add(number)
    return () => this.#land(lane, flights, number)
  }

  /** Runs a task when the calls of a lane that are under way now have been answered, now if none is. */
  settled(lane: string, task: () => void): void {
    const flights = this.#lanes.get(lane)
    if (flights) flights.waiting.push({ behind: this.#last, task })
    else task()
  }

  #land(lane: string, { underWay, waiting }: Lane, number: number): void {
    underWay.delete(number)
    const [oldest = Infinity] = underWay
    if (underWay.size === 0) this.#lanes.delete(lane)
    const stay = waiting.findIndex(({ behind }) => behind >= oldest)
    for (const { task } of waiting.splice(0, stay < 0 ? waiting.length : stay)) task()
  }
}
