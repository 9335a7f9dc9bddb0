import type { NodeParts } from '../node/node-parts.ts'

/** Most outcomes of workers that wait for the store, and their bytes together. */
const maxKept = 10_000
const maxKeptBytes = 64 * 1024 * 1024

/** An outcome that the store did not take. */
export interface KeptOutcome {
  readonly bytes: number
  /** Sends it again. One that is refused again is kept again. */
  readonly again: () => void
}

/**
 * Outcomes that the store could not take, until it is back: stock workers say an outcome once, and a job would stay leased to a
 * worker that has long gone on. A gateway that ends meanwhile loses them, and their jobs run again.
 */
export class KeptOutcomes {
  readonly #observer: NodeParts['observer']
  #waiting: KeptOutcome[] = []
  #bytes = 0
  /** True once it was reported that outcomes are kept, until it is that they are stored. */
  #isTold = false
  #isFull = false

  constructor({ observer, events }: Pick<NodeParts, 'observer' | 'events'>) {
    this.#observer = observer
    for (const event of ['reconnected', 'beat'] as const) events.on(event, () => this.#sendAgain())
  }

  /** Keeps what a worker said; false where too much is kept. */
  add(kept: KeptOutcome): boolean {
    const hasRoom = this.#waiting.length < maxKept && this.#bytes + kept.bytes <= maxKeptBytes
    if (hasRoom) this.addOwn(kept)
    else if (!this.#isFull) this.#observer.outcomesKept('full')
    this.#isFull ||= !hasRoom
    return hasRoom
  }

  /** Keeps one of the gateway itself: there are no more of these than leases. */
  addOwn(kept: KeptOutcome): void {
    this.#waiting.push(kept)
    this.#bytes += kept.bytes
    if (!this.#isTold) this.#observer.outcomesKept('kept')
    this.#isTold = true
  }

  #sendAgain(): void {
    const waiting = this.#waiting
    if (waiting.length === 0 && this.#isTold) {
      this.#isTold = false
      this.#isFull = false
      this.#observer.outcomesKept('stored')
    }
    this.#waiting = []
    this.#bytes = 0
    for (const { again } of waiting) again()
  }
}
