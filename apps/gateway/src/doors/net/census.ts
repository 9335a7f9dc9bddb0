/** Workers of one function or queue, by what they do. */
export interface Hands {
  readonly idle: number
  readonly busy: number
}

/** Clients and workers of a door. */
export interface Census {
  /** Connections that are no workers. */
  readonly clients: number
  /** Workers that named functions: busy with a job of the function, or idle altogether. */
  readonly byFunction: ReadonlyMap<string, Hands>
  /** Consumers by the queues that they fetch from. */
  readonly byQueue: ReadonlyMap<string, Hands>
  /** Bytes of all connections so far. */
  readonly bytesIn: number
  readonly bytesOut: number
}

/** Counts workers one by one. */
export class HandCounts {
  readonly counts = new Map<string, { idle: number; busy: number }>()

  add(name: string, hand: keyof Hands, n = 1): void {
    const of = this.counts.get(name) ?? { idle: 0, busy: 0 }
    of[hand] += n
    this.counts.set(name, of)
  }
}
