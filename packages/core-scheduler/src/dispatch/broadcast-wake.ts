import type { IdleWorkers } from './idle-workers.ts'
import type { Clock } from '../clock.ts'

/** With thousands of idle workers the first one has its job long before the last is woken. */
const mostPerTurn = 32

interface Round {
  readonly keys: readonly string[]
  /** Ends when all workers that were idle then are awake. */
  until: number
}

/** Wakes all idle workers, some in each turn of the event loop. */
export class BroadcastWake {
  readonly #idle: IdleWorkers
  readonly #clock: Clock
  /** Wake-ups in progress, by their keys. */
  readonly #rounds = new Map<string, Round>()

  constructor(idle: IdleWorkers, clock: Clock) {
    this.#idle = idle
    this.#clock = clock
  }

  /** Wakes all workers idle under any of the keys, the longest idle first. */
  wakeAll(keys: readonly string[]): void {
    const until = this.#idle.idleCount
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
