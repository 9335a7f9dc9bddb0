import type { Observer } from '../observer.ts'
import type { StoreListener } from '../store/event-ports.ts'

type StoreEvents = {
  readonly [Event in keyof StoreListener]: Parameters<StoreListener[Event]>
}

/** Events between the parts of a scheduler, those of the store included. */
export interface SchedulerEvents extends StoreEvents {
  /** The store took a heartbeat. `wasReset`: it may lack what this node stored. `lanes`: so many are registered. */
  beat: [wasReset: boolean, lanes: number]
  /** These nodes are dead, if any: with every beat, until they are reclaimed. */
  deadNodes: [nodes: readonly string[]]
  /** These nodes left something and have sent no heartbeat for long. */
  unknownNodes: [nodes: readonly string[]]
  /** The store needs this node's state again. Listeners are awaited. */
  storeReset: []
  /** The store answers again, and events were missed. Listeners are awaited. */
  reconnected: []
  /** These lanes are watched from now on; earlier events were missed. Awaited after an outage. */
  lanesWatched: [fresh: ReadonlySet<string> | 'all']
  /** A job without a waiter at this node was finished. */
  finishedUnawaited: [lane: string, id: number]
  /** Prefetched jobs go back before what follows, and none is prefetched. Listeners are awaited. */
  prefetchEnds: []
  /** Once for each `prefetchEnds`. */
  prefetchResumed: []
  /** The limit of this name may have room. */
  throttleReleased: [limit: string]
  /** The store has a lane that it had not. */
  laneCreated: [lane: string]
  /** The lane left the registry. */
  laneRemoved: [lane: string]
}

type Listener<Words extends readonly unknown[]> = (...words: Words) => Promise<void> | void

/** One emitter for all of them: each part subscribes to what it handles. */
export class SchedulerEmitter {
  readonly #observer: Pick<Observer, 'error'>
  readonly #listeners = new Map<keyof SchedulerEvents, Set<Listener<never>>>()

  constructor(observer: Pick<Observer, 'error'>) {
    this.#observer = observer
  }

  /** Returns a function that unsubscribes. */
  on<Event extends keyof SchedulerEvents>(
    event: Event,
    listener: Listener<SchedulerEvents[Event]>,
  ): () => void {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  /** Errors of asynchronous listeners are reported under the name of the event. */
  emit<Event extends keyof SchedulerEvents>(event: Event, ...words: SchedulerEvents[Event]): void {
    for (const listener of this.#of(event)) {
      listener(...words)?.catch((error: unknown) => this.#observer.error(event, error))
    }
  }

  /** Calls the listeners one at a time. Throws the error of any. */
  async emitInTurn<Event extends keyof SchedulerEvents>(
    event: Event,
    ...words: SchedulerEvents[Event]
  ): Promise<void> {
    for (const listener of this.#of(event)) await listener(...words)
  }

  /** Passes on what the store tells this node. */
  get ofStore(): StoreListener {
    const pass =
      <Event extends keyof StoreListener>(event: Event) =>
      (...words: SchedulerEvents[Event]): void =>
        this.emit(event, ...words)
    return {
      created: pass('created'),
      started: pass('started'),
      finished: pass('finished'),
      relayed: pass('relayed'),
      woken: pass('woken'),
      roomMade: pass('roomMade'),
      laneAdded: pass('laneAdded'),
      laneDropped: pass('laneDropped'),
      laneClosed: pass('laneClosed'),
      pausesChanged: pass('pausesChanged'),
      consumerNews: pass('consumerNews'),
      asked: pass('asked'),
      answered: pass('answered'),
      up: pass('up'),
      down: pass('down'),
    }
  }

  #of<Event extends keyof SchedulerEvents>(
    event: Event,
  ): Iterable<Listener<SchedulerEvents[Event]>> {
    return (this.#listeners.get(event) ?? []) as Iterable<Listener<SchedulerEvents[Event]>>
  }
}
