import type { Clock } from '../clock.ts'
import type { Observer } from '../observer.ts'

/** Interval of heartbeats, milliseconds, and of the checks that go with them. */
export const beatEveryMs = 1_000

interface Parts {
  readonly clock: Clock
  readonly observer: Pick<Observer, 'error'>
}

export interface PeriodicTask {
  /** Names the task in errors. */
  readonly name: string
  /** {@link beatEveryMs}. */
  readonly everyMs?: number
  /** Runs once before the node serves. false. */
  readonly isFirst?: boolean
  readonly run: () => Promise<void>
}

/** The periodic tasks of a node: a table to which each part adds its own. */
export class BackgroundTasks {
  readonly #parts: Parts
  readonly #loops: BackgroundLoop[] = []

  constructor(parts: Parts) {
    this.#parts = parts
  }

  add(task: PeriodicTask): BackgroundLoop {
    const loop = new BackgroundLoop(this.#parts, task)
    this.#loops.push(loop)
    return loop
  }

  /** Runs the first ones in turn, and then all periodically. Throws the first error. */
  async start(): Promise<void> {
    const first = this.#loops.filter(({ task }) => task.isFirst)
    await inTurn(first.map(({ task }) => task.run))
    for (const loop of this.#loops) loop.start()
  }

  stop(): void {
    for (const loop of this.#loops) loop.stop()
  }
}

/** Runs a task again and again, never twice at once. Errors are reported and do not end it. */
export class BackgroundLoop {
  readonly task: PeriodicTask
  readonly #parts: Parts
  #cancel: (() => void) | undefined
  #isStopped = true
  #isRunning = false

  constructor(parts: Parts, task: PeriodicTask) {
    this.#parts = parts
    this.task = task
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

  #arm(): void {
    if (this.#isStopped) return
    const { everyMs = beatEveryMs } = this.task
    this.#cancel = this.#parts.clock.after(everyMs, () => this.#runAndArm())
  }

  #runAndArm(): void {
    const { name, run } = this.task
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
