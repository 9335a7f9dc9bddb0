import type { Clock } from '@crossgear/core-scheduler'
import type { Random } from '@crossgear/tools/random'
import type { Actor, Timeline } from './timeline.ts'

/** Longest that a turn of an event loop takes, milliseconds. */
const maxTurnMs = 0.2
/** Longest that a timer is late, milliseconds. */
const maxLateMs = 1

/** The clock of one process of a world: it stands still and ends with it. */
export class ActorClock implements Clock {
  readonly #timeline: Timeline
  readonly #actor: Actor
  readonly #random: Random
  #ends: (() => void)[] = []

  constructor(timeline: Timeline, actor: Actor, random: Random) {
    this.#timeline = timeline
    this.#actor = actor
    this.#random = random
  }

  nowMs(): number {
    return this.#timeline.nowMs
  }

  after(ms: number, task: () => void): () => void {
    return this.#timeline.after(ms + this.#random.next() * maxLateMs, this.#actor, task)
  }

  /** Tasks of one turn run together, as immediates do. */
  endOfTurn(task: () => void): void {
    this.#ends.push(task)
    if (this.#ends.length > 1) return
    this.#timeline.after(this.#random.next() * maxTurnMs, this.#actor, () => {
      const ends = this.#ends
      this.#ends = []
      for (const end of ends) end()
    })
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timeline.after(ms, this.#actor, resolve)
    })
  }
}
