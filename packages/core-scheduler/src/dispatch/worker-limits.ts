import type { Subscription } from '../model/subscription.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Throttle } from '../store/ports.ts'

/** Which lanes are of queues that give each worker so many jobs and no more. */
export class WorkerLimits {
  readonly #registry: LaneRegistry
  readonly #queues: ReadonlySet<string>

  constructor(registry: LaneRegistry, throttles: ReadonlyMap<string, Throttle> = new Map()) {
    this.#registry = registry
    const limited = [...throttles].filter(([, { perWorker }]) => perWorker !== undefined)
    this.#queues = new Set(limited.map(([queue]) => queue))
  }

  covers(lane: string): boolean {
    return this.#queues.size > 0 && this.#queues.has(this.#registry.names.parse(lane).queue)
  }

  /** True where it matters which worker asks for a subscription. */
  concerns(subscription: Subscription): boolean {
    if (this.#queues.size === 0) return false
    const groups = subscription.groups(this.#registry)
    return groups.some(({ lanes }) => lanes.some((lane) => this.covers(lane)))
  }
}
