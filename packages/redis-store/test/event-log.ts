import type { StoreListener } from '@crossgear/core-scheduler'

/** Events from a store to a node, each with the names of its words. */
const words = {
  created: ['lane', 'id'],
  started: ['lane', 'id'],
  finished: ['lane', 'id'],
  relayed: ['ref', 'event'],
  woken: ['lane', 'jobs'],
  roomMade: ['lane', 'jobs'],
  laneAdded: ['lane', 'number'],
  laneDropped: ['lane', 'number'],
  laneClosed: ['lane'],
  pausesChanged: [],
  consumerNews: ['wid', 'news'],
  asked: ['node', 'number', 'text'],
  answered: ['node', 'number', 'text'],
  up: [],
  down: ['reason'],
} as const satisfies Readonly<Record<keyof StoreListener, readonly string[]>>

type Named<Names extends readonly string[], Values> = {
  readonly [At in keyof Names & `${number}` as Names[At]]: Values[At & keyof Values]
}

type EventOf<Kind extends keyof StoreListener> = { readonly kind: Kind } & Named<
  (typeof words)[Kind],
  Parameters<StoreListener[Kind]>
>

/** One event from a store to a node. */
export type StoreEvent = { [Kind in keyof StoreListener]: EventOf<Kind> }[keyof StoreListener]

interface Wait {
  readonly matches: (event: StoreEvent) => boolean
  readonly resolve: (event: StoreEvent) => void
}

/** Records events and lets a test wait for them. */
export class EventLog {
  readonly events: StoreEvent[] = []
  /** Hears what is recorded. */
  readonly listener: StoreListener
  #waits: Wait[] = []

  constructor() {
    const hear = ([kind, names]: [string, readonly string[]]) => {
      const named = (said: readonly unknown[]) => names.map((name, at) => [name, said[at]])
      return [
        kind,
        (...said: readonly unknown[]) => {
          this.#add({ kind, ...Object.fromEntries(named(said)) } as StoreEvent)
        },
      ]
    }
    const heard: unknown = Object.fromEntries(Object.entries(words).map(hear))
    this.listener = heard as StoreListener
  }

  /** Resolves with the first matching event of that kind, past or future. */
  waitFor<Kind extends keyof StoreListener>(
    kind: Kind,
    matches: (event: EventOf<Kind>) => boolean = () => true,
  ): Promise<EventOf<Kind>> {
    const isIt = (one: StoreEvent): boolean =>
      one.kind === kind && matches(one as StoreEvent & EventOf<Kind>)
    const known = this.events.find(isIt)
    const found = known
      ? Promise.resolve(known)
      : new Promise<StoreEvent>((resolve) => this.#waits.push({ matches: isIt, resolve }))
    return found as Promise<StoreEvent & EventOf<Kind>>
  }

  /** Clears the record. */
  clear(): void {
    this.events.length = 0
  }

  #add(event: StoreEvent): void {
    this.events.push(event)
    const due = this.#waits.filter((wait) => wait.matches(event))
    this.#waits = this.#waits.filter((wait) => !due.includes(wait))
    for (const wait of due) wait.resolve(event)
  }
}
