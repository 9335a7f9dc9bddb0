import type { Clock } from './clock.ts'

interface Timer {
  readonly dueMs: number
  readonly order: number
  readonly task: () => void
}

/** Turns of one call of {@link ManualClock.turn} after which the tasks count as endless. */
const maxTurns = 10_000

/** A clock that tests move by hand. Equal runs give equal orders. */
export class ManualClock implements Clock {
  #nowMs: number
  #order = 0
  readonly #timers = new Set<Timer>()
  #ends: (() => void)[] = []

  constructor(startMs = 0) {
    this.#nowMs = startMs
  }

  /** Timers that have not run yet. */
  get pending(): number {
    return this.#timers.size
  }

  nowMs(): number {
    return this.#nowMs
  }

  after(ms: number, task: () => void): () => void {
    const timer = { dueMs: this.#nowMs + ms, order: this.#order, task }
    this.#order += 1
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  endOfTurn(task: () => void): void {
    this.#ends.push(task)
  }

  /** Ends the turn: lets promises settle and runs what waits for the end, until nothing is left. */
  async turn(): Promise<void> {
    for (let turns = 0; turns < maxTurns; turns += 1) {
      await promisesSettled()
      if (this.#ends.length === 0) return
      const ends = this.#ends
      this.#ends = []
      for (const end of ends) end()
    }
    throw new Error(`still not at rest after ${maxTurns} turns`)
  }

  /** Moves time on by `ms`. Due timers run in the order of their times, each in a turn of its own. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await this.turn()
    for (let timer = this.#next(untilMs); timer; timer = this.#next(untilMs)) {
      this.#timers.delete(timer)
      this.#nowMs = timer.dueMs
      timer.task()
      await this.turn()
    }
    this.#nowMs = untilMs
  }

  #next(untilMs: number): Timer | undefined {
    let best: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.dueMs > untilMs) continue
      const sooner = best && (timer.dueMs - best.dueMs || timer.order - best.order) < 0
      if (!best || sooner) best = timer
    }
    return best
  }
}

/** Node runs all promise callbacks, also newly made ones, before an immediate. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
