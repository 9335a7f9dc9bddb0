import type { Clock } from '../clock.ts'
import type { SchedulerEmitter } from '../scheduler-events.ts'

interface Parts {
  readonly clock: Clock
  readonly events: SchedulerEmitter
}

/** Wakes waiting workers when the rate limit of a queue has room again. */
export class RoomTimers {
  readonly #parts: Parts
  readonly #byQueue = new Map<string, () => void>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  stop(): void {
    for (const cancel of this.#byQueue.values()) cancel()
    this.#byQueue.clear()
  }

  /** `waitMs` is 0 if the end of a job makes room. */
  arm(queue: string, waitMs: number): void {
    if (waitMs === 0 || this.#byQueue.has(queue)) return
    const { clock, events } = this.#parts
    const cancel = clock.after(waitMs, () => {
      this.#byQueue.delete(queue)
      events.emit('roomAgain', queue)
    })
    this.#byQueue.set(queue, cancel)
  }
}
