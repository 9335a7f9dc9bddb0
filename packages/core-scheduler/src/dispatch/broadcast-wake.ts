import type { IdleWorkers } from './idle-workers.ts'
import type { Clock } from '../store/ports.ts'

/** With thousands asleep the first has its job long before the last is woken. */
const mostPerTurn = 32

interface Round {
  readonly keys: readonly string[]
  /** It is over when all are awake that slept then. */
  until: number
}

/** Wakes all who sleep, some in each turn of the event loop. */
export class BroadcastWake {
  readonly #idle: IdleWorkers
  readonly #clock: Clock
  /** Wake-ups in progress, by their keys. */
  readonly #rounds = new Map<string, Round>()

  constructor(idle: IdleWorkers, clock: Clock) {
    this.#idle = idle
    this.#clock = clock
  }

  /** Wakes all that sleep now under any of the keys, the longest asleep first. */
  wakeAll(keys: readonly string[]): void {
    const until = this.#idle.falls
    const name = JSON.stringify(keys)
    const underWay = this.#rounds.get(name)
    if (underWay) underWay.until = until
    else this.#goOn(name, { keys, until })
  }

  #goOn(name: string, round: Round): void {
    if (this.#idle.wake(round.keys, mostPerTurn, round.until) < mostPerTurn) {
      this.#rounds.delete(name)
      return
    }
    this.#rounds.set(name, round)
    this.#clock.endOfTurn(() => this.#goOn(name, round))
  }
}
