import type { Clock } from '../clock.ts'
import type { Observer } from '../observer.ts'

export interface LoopParts {
  readonly clock: Clock
  readonly observer: Observer
}

export interface LoopTask {
  /** Names the loop in errors. */
  readonly name: string
  readonly everyMs: number
  readonly run: () => Promise<void>
}

/** Runs a task again and again, never twice at once. Errors are reported and do not end it. */
export class BackgroundLoop {
  readonly #parts: LoopParts
  readonly #task: LoopTask
  #cancel: (() => void) | undefined
  #isStopped = true
  #isRunning = false

  constructor(parts: LoopParts, task: LoopTask) {
    this.#parts = parts
    this.#task = task
  }

  /** The first run comes after one interval. */
  start(): void {
    this.#isStopped = false
    this.#arm()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  /** The next run begins now. */
  runNow(): void {
    if (this.#isStopped || this.#isRunning) return
    this.#cancel?.()
    this.#runAndArm()
  }

  /** An extra run. */
  run(): Promise<void> {
    return this.#task.run()
  }

  #arm(): void {
    if (this.#isStopped) return
    this.#cancel = this.#parts.clock.after(this.#task.everyMs, () => this.#runAndArm())
  }

  #runAndArm(): void {
    const { name, run } = this.#task
    this.#isRunning = true
    run()
      .catch((error: unknown) => this.#parts.observer.error(name, error))
      .finally(() => {
        this.#isRunning = false
        this.#arm()
      })
  }
}

/** Runs tasks in order. An error does not stop the others; the first one is thrown at the end. */
export async function inTurn(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = []
  for (const task of tasks) await task().catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}
