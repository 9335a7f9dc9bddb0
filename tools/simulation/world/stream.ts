import type { Random } from '@crossgear/tools/random'
import type { Actor, Timeline } from './timeline.ts'

/** One direction of a connection: what goes in comes out later, in order. */
export class Stream {
  readonly #timeline: Timeline
  readonly #random: Random
  readonly #to: Actor
  readonly #maxDelayMs: number
  #lastMs = 0
  #cuts = 0

  constructor(timeline: Timeline, random: Random, to: Actor, maxDelayMs: number) {
    this.#timeline = timeline
    this.#random = random
    this.#to = to
    this.#maxDelayMs = maxDelayMs
  }

  /** Nothing that is on its way arrives. */
  cut(): void {
    this.#cuts += 1
  }

  /** Delivers after all that was sent before. */
  send(deliver: () => void, moreMs = 0): void {
    const { nowMs } = this.#timeline
    const atMs = nowMs + moreMs + this.#random.next() ** 3 * this.#maxDelayMs
    this.#lastMs = Math.max(this.#lastMs, atMs)
    const cuts = this.#cuts
    const arrive = (): void => {
      if (this.#cuts === cuts) deliver()
    }
    this.#timeline.after(this.#lastMs - nowMs, this.#to, arrive, this)
  }
}
