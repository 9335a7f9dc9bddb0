import type { Subscription } from '../model/subscription.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Throttle } from '../store/claim-ports.ts'

/** Finds lanes of queues with a limit per worker. */
export class WorkerLimits {
  readonly #registry: LaneRegistry
  #queues: ReadonlySet<string> = new Set()

  constructor(registry: LaneRegistry, throttles: ReadonlyMap<string, Throttle> = new Map()) {
    this.#registry = registry
    this.configure(throttles)
  }

  /** Replaces the limits. */
  configure(throttles: ReadonlyMap<string, Throttle>): void {
    const limited = [...throttles].filter(([, { perWorker }]) => perWorker !== undefined)
    this.#queues = new Set(limited.map(([queue]) => queue))
  }

  covers(lane: string): boolean {
    return this.#queues.size > 0 && this.#queues.has(this.#registry.names.parse(lane).queue)
  }

  /** True if it matters which worker claims for a subscription. */
  concerns(subscription: Subscription): boolean {
    if (this.#queues.size === 0) return false
    const groups = subscription.groups(this.#registry)
    return groups.some(({ queue, lanes }) =>
      queue === undefined ? lanes.some((lane) => this.covers(lane)) : this.#queues.has(queue),
    )
  }
}
