import { EventEmitter, once } from 'node:events'
import type { Clock } from '@crossgear/core-scheduler'

interface Timer {
  readonly ms: number
  readonly dueMs: number
  readonly task: () => void
}

/** The door's time, moved by the test; the turns of the event loop are real. */
export class DoorClock implements Clock {
  #nowMs = 0
  readonly #timers = new Set<Timer>()
  readonly #events = new EventEmitter()

  nowMs(): number {
    return this.#nowMs
  }

  after(ms: number, task: () => void): () => void {
    const timer = { ms, dueMs: this.#nowMs + ms, task }
    this.#timers.add(timer)
    this.#events.emit('armed')
    return () => this.#timers.delete(timer)
  }

  endOfTurn(task: () => void): void {
    setImmediate(task)
  }

  /** Settles when so many timers of this length are running. */
  async armed(ms: number, count = 1): Promise<void> {
    while ([...this.#timers].filter((timer) => timer.ms === ms).length < count) {
      await once(this.#events, 'armed')
    }
  }

  advance(ms: number): void {
    this.#nowMs += ms
    for (const timer of Array.from(this.#timers)) {
      if (timer.dueMs > this.#nowMs || !this.#timers.delete(timer)) continue
      timer.task()
    }
  }
}
