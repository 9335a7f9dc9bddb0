import type { Settled } from '../model/job.ts'
import type { Clock } from '../store/ports.ts'
import type { Settlement } from '../model/requests.ts'

/** Background tasks whose runs are counted. */
export type TimedTask = 'promote' | 'heal'

/** How often a task of this node has run, and how long it took in all. */
export interface TaskTime {
  readonly cycles: number
  readonly wallMs: number
}

/** Counts the work of this node's background tasks. Listens for the results of leases that it ended. */
export class TaskTimes implements Settlement {
  readonly #clock: Clock
  readonly #times = new Map<TimedTask, TaskTime>()
  #expired = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Leases past their deadline that this node ended. */
  get expired(): number {
    return this.#expired
  }

  settled(result: Settled): void {
    if (result !== 'unknown') this.#expired += 1
  }

  /** The next look finds it again. */
  refused(): void {}

  of(task: TimedTask): TaskTime {
    return this.#times.get(task) ?? { cycles: 0, wallMs: 0 }
  }

  /** Runs a task. One that fails is not counted. */
  async time<Result>(task: TimedTask, run: () => Promise<Result>): Promise<Result> {
    const startMs = this.#clock.nowMs()
    const result = await run()
    const { cycles, wallMs } = this.of(task)
    this.#times.set(task, {
      cycles: cycles + 1,
      wallMs: wallMs + this.#clock.nowMs() - startMs,
    })
    return result
  }
}
