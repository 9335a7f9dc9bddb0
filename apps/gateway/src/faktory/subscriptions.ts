import type { Subscription, Scheduler } from '@crossgear/core-scheduler'
import { isQueueName, parseFetch } from '@crossgear/fwp-codec'

/** Different FETCH arguments that are remembered. Clients that shuffle their queues use many. */
const maxKept = 1_000
/** Longer ones are not. */
const maxKeptBytes = 4_096

/** The queues that a FETCH names, and the subscription in them. */
export interface Wanted {
  readonly queues: readonly string[]
  readonly subscription: Subscription
}

/** The subscriptions of all consumers, made once for those that want the same. */
export class Subscriptions {
  readonly #scheduler: Scheduler
  readonly #kept = new Map<string, Wanted>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /** `functions` limits the consumer, where its labels do. Throws for an argument that is wrong. */
  of(argument: Buffer, functions: ReadonlySet<string> | undefined): Wanted {
    const text = argument.toString('latin1')
    const key = functions ? `${text}\n${[...functions].sort().join('\n')}` : text
    const known = this.#kept.get(key)
    if (known) return known
    // Nothing can ever be queued under a name that no queue can have.
    const queues = parseFetch(argument).filter(isQueueName)
    const wanted = { queues, subscription: this.#scheduler.consumerSubscription(queues, functions) }
    if (key.length > maxKeptBytes) return wanted
    if (this.#kept.size >= maxKept) this.#kept.clear()
    this.#kept.set(key, wanted)
    return wanted
  }
}
