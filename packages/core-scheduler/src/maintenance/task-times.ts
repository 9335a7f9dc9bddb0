import type { Settled } from '../model/job.ts'
import type { Clock } from '../clock.ts'
import type { Settlement } from '../model/requests.ts'

/** Background tasks with metrics. */
export type TimedTask = 'promote' | 'heal'

/** Runs of a task at this node, and their total time. */
export interface TaskTime {
  readonly cycles: number
  readonly wallMs: number
}

/** Metrics of this node's background tasks. */
export class TaskTimes implements Settlement {
  readonly #clock: Clock
  readonly #times = new Map<TimedTask, TaskTime>()
  #expired = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Leases that this node ended at their deadline. */
  get expired(): number {
    return this.#expired
  }

  settled(result: Settled): void {
    if (result !== 'unknown') this.#expired += 1
  }

  /** The next run retries. */
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
