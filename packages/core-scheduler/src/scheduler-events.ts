import type { ConsumerNews } from './store/queue-ports.ts'

/** Events between the parts of a scheduler. */
export interface SchedulerEvents {
  /** The store took a heartbeat. `wasReset`: it may lack what this node stored. */
  beat: [wasReset: boolean]
  /** These nodes are dead, if any: with every beat, until they are reclaimed. */
  deadNodes: [nodes: readonly string[]]
  /** These nodes left something and have sent no heartbeat for long. */
  unknownNodes: [nodes: readonly string[]]
  /** The store needs this node's state again. Listeners are awaited. */
  storeReset: []
  /** These lanes are watched from now on; earlier events were missed. */
  lanesWatched: [fresh: ReadonlySet<string> | 'all']
  /** Prefetched jobs go back before what follows, and none is prefetched. Listeners are awaited. */
  prefetchEnds: []
  /** Once for each `prefetchEnds`. */
  prefetchResumed: []
  /** A throttled queue may have room. */
  throttleReleased: [queue: string]
  /** An operator closed a lane to consumers. */
  laneClosed: [lane: string]
  /** The lane left the registry. */
  laneDropped: [lane: string]
  /** An order for a Faktory worker, or a sign of life from one. */
  consumerNews: [wid: string, news: ConsumerNews]
}

type Listener<Words extends readonly unknown[]> = (...words: Words) => Promise<void> | void

/** One emitter for all of them. */
export class SchedulerEmitter {
  readonly #listeners = new Map<keyof SchedulerEvents, Set<Listener<never>>>()

  /** Returns a function that unsubscribes. */
  on<Event extends keyof SchedulerEvents>(
    event: Event,
    listener: Listener<SchedulerEvents[Event]>,
  ): () => void {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  emit<Event extends keyof SchedulerEvents>(event: Event, ...words: SchedulerEvents[Event]): void {
    for (const listener of this.#of(event)) void listener(...words)
  }

  /** Calls the listeners one at a time. Throws the error of any. */
  async emitInTurn<Event extends keyof SchedulerEvents>(
    event: Event,
    ...words: SchedulerEvents[Event]
  ): Promise<void> {
    for (const listener of this.#of(event)) await listener(...words)
  }

  #of<Event extends keyof SchedulerEvents>(event: Event): Listener<SchedulerEvents[Event]>[] {
    return [...(this.#listeners.get(event) ?? [])] as Listener<SchedulerEvents[Event]>[]
  }
}
