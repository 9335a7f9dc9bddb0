interface Waiting {
  /** The last call sent before the task came. */
  readonly behind: number
  readonly task: () => void
}

interface Lane {
  /** Calls in progress, in the order in which they were sent. */
  readonly underWay: Set<number>
  readonly waiting: Waiting[]
}

/** Submissions in progress, by lane, and tasks that wait for them. */
export class InflightBarrier {
  readonly #lanes = new Map<string, Lane>()
  #last = 0

  /** Notes a call that is sent. Returns a function to call when it is answered. */
  begin(lane: string): () => void {
    const flights: Lane = this.#lanes.get(lane) ?? { underWay: new Set(), waiting: [] }
    this.#lanes.set(lane, flights)
    this.#last += 1
    const number = this.#last
    flights.underWay.add(number)
    return () => this.#land(lane, flights, number)
  }

  /** Runs a task once the lane's calls now in progress are answered; at once if there are none. */
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
