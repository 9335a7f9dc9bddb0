import type { NodeParts } from './node-parts.ts'

/** Most own jobs remembered per lane until the store announces them. */
const maxRemembered = 10_000

interface Waiting {
  /** The last call sent before the task came. */
  readonly after: number
  readonly task: () => void
}

interface Lane {
  /** Calls in progress, in the order in which they were sent. */
  readonly underWay: Set<number>
  readonly waiting: Waiting[]
}

/**
 * This node's submissions, of which the store sends events like of any other: those in progress, with tasks that wait for
 * them, and the jobs that came of them.
 */
export class OwnSubmissions {
  readonly #lanes = new Map<string, Lane>()
  readonly #jobs = new Map<string, Set<number>>()
  #last = 0

  constructor({ events }: Pick<NodeParts, 'events'>) {
    events.on('laneRemoved', (lane) => void this.#jobs.delete(lane))
  }

  /** Notes a call that is sent. Returns a function to call when it is answered. */
  begin(lane: string): () => void {
    const calls: Lane = this.#lanes.get(lane) ?? { underWay: new Set(), waiting: [] }
    this.#lanes.set(lane, calls)
    this.#last += 1
    const number = this.#last
    calls.underWay.add(number)
    return () => this.#end(lane, calls, number)
  }

  /**
   * Runs a task once the lane's calls now in progress are answered, at once if there are none: an event may overtake the
   * answer that makes its job known here.
   */
  settled(lane: string, task: () => void): void {
    const calls = this.#lanes.get(lane)
    if (calls) calls.waiting.push({ after: this.#last, task })
    else task()
  }

  remember(lane: string, id: number): void {
    const ids = this.#jobs.get(lane)
    if (!ids || ids.size >= maxRemembered) this.#jobs.set(lane, new Set([id]))
    else ids.add(id)
  }

  /** True if the store's events about a job are echoes of this node's submission; asked once per job. */
  isOwn(lane: string, id: number): boolean {
    return this.#jobs.get(lane)?.delete(id) ?? false
  }

  #end(lane: string, { underWay, waiting }: Lane, number: number): void {
    underWay.delete(number)
    const [oldest = Infinity] = underWay
    if (underWay.size === 0) this.#lanes.delete(lane)
    const stay = waiting.findIndex(({ after }) => after >= oldest)
    for (const { task } of waiting.splice(0, stay < 0 ? waiting.length : stay)) task()
  }
}
