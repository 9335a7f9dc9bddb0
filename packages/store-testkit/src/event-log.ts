import type { ConsumerNews, JobEvent, JobRef, StoreListener } from '@crossgear/core-scheduler'

/** One event from a store to a node. */
export type StoreEvent =
  | { readonly kind: 'created'; readonly lane: string; readonly id: number }
  | { readonly kind: 'started'; readonly lane: string; readonly id: number }
  | { readonly kind: 'finished'; readonly lane: string; readonly id: number }
  | { readonly kind: 'relayed'; readonly ref: JobRef; readonly event: JobEvent | 'finish' }
  | { readonly kind: 'woken' | 'roomMade'; readonly lane: string; readonly jobs: number }
  | { readonly kind: 'laneAdded'; readonly lane: string; readonly number: number }
  | { readonly kind: 'laneDropped'; readonly lane: string; readonly number: number }
  | { readonly kind: 'laneClosed'; readonly lane: string }
  | { readonly kind: 'pausesChanged' }
  | { readonly kind: 'consumerNews'; readonly wid: string; readonly news: ConsumerNews }
  | {
      readonly kind: 'asked' | 'answered'
      readonly node: string
      readonly number: number
      readonly text: string
    }
  | { readonly kind: 'up' }
  | { readonly kind: 'down'; readonly reason: string }

interface Wait {
  readonly matches: (event: StoreEvent) => boolean
  readonly resolve: (event: StoreEvent) => void
}

/** A listener that records events and lets a test wait for them. */
export class EventLog implements StoreListener {
  readonly events: StoreEvent[] = []
  #waits: Wait[] = []

  /** Resolves with the first matching event of that kind, past or future. */
  waitFor<Kind extends StoreEvent['kind']>(
    kind: Kind,
    matches: (event: Extract<StoreEvent, { kind: Kind }>) => boolean = () => true,
  ): Promise<Extract<StoreEvent, { kind: Kind }>> {
    const isIt = (one: StoreEvent): one is Extract<StoreEvent, { kind: Kind }> =>
      one.kind === kind && matches(one as Extract<StoreEvent, { kind: Kind }>)
    const known = this.events.find(isIt)
    if (known) return Promise.resolve(known)
    return new Promise((resolve) => {
      this.#waits.push({
        matches: isIt,
        resolve: (one) => {
          if (isIt(one)) resolve(one)
        },
      })
    })
  }

  /** Clears the record. */
  clear(): void {
    this.events.length = 0
  }

  created(lane: string, id: number): void {
    this.#add({ kind: 'created', lane, id })
  }

  started(lane: string, id: number): void {
    this.#add({ kind: 'started', lane, id })
  }

  finished(lane: string, id: number): void {
    this.#add({ kind: 'finished', lane, id })
  }

  relayed(ref: JobRef, event: JobEvent | 'finish'): void {
    this.#add({ kind: 'relayed', ref, event })
  }

  woken(lane: string, jobs: number): void {
    this.#add({ kind: 'woken', lane, jobs })
  }

  roomMade(lane: string, jobs: number): void {
    this.#add({ kind: 'roomMade', lane, jobs })
  }

  laneAdded(lane: string, number: number): void {
    this.#add({ kind: 'laneAdded', lane, number })
  }

  laneClosed(lane: string): void {
    this.#add({ kind: 'laneClosed', lane })
  }

  laneDropped(lane: string, number: number): void {
    this.#add({ kind: 'laneDropped', lane, number })
  }

  consumerNews(wid: string, news: ConsumerNews): void {
    this.#add({ kind: 'consumerNews', wid, news })
  }

  pausesChanged(): void {
    this.#add({ kind: 'pausesChanged' })
  }

  asked(node: string, number: number, text: string): void {
    this.#add({ kind: 'asked', node, number, text })
  }

  answered(node: string, number: number, text: string): void {
    this.#add({ kind: 'answered', node, number, text })
  }

  up(): void {
    this.#add({ kind: 'up' })
  }

  down(reason: string): void {
    this.#add({ kind: 'down', reason })
  }

  #add(event: StoreEvent): void {
    this.events.push(event)
    const due = this.#waits.filter((wait) => wait.matches(event))
    this.#waits = this.#waits.filter((wait) => !due.includes(wait))
    for (const wait of due) wait.resolve(event)
  }
}
