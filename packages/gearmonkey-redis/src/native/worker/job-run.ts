import type { Commands } from '../commands.ts'
import { GearMonkeyError, messageOf } from '../errors.ts'
import type { Input, JobReports, Outcome } from './job-reports.ts'
import { valueOf, type Payload } from '../submission.ts'

/** A job for its handler. */
export interface Job {
  readonly fn: string
  readonly id: number
  readonly input: Buffer
  /**
   * Reports progress to clients: `dividend` of `divisor` parts are done.
   * @throws GearMonkeyError BAD_ARGUMENT, JOB_OVER, REPORT_FAILED
   */
  readonly update: (dividend: number, divisor: number) => Promise<void>
  /** Aborted when the worker was stopped and no longer waits. */
  readonly signal: AbortSignal
}

/** Does a job. Its return value is the output; nothing means no bytes. */
export type JobHandler = (job: Job) => Output | Promise<Output>

// A handler that returns nothing is one, whether it is written as such or only declared so.
// oxlint-disable-next-line typescript/no-invalid-void-type
type Output = Payload | null | undefined | void

export interface JobRunContext {
  readonly fn: string
  readonly handler: JobHandler
  readonly commands: Commands
  readonly reports: JobReports
  readonly onError: (error: GearMonkeyError) => void
  /** Called when the outcome of a job is reported, or the worker was closed before. */
  readonly onDone: (run: JobRun) => void
}

/** The stages of a run: its handler was called; the handler has come to its end; the outcome is reported too. */
const stages = { begun: 1, handled: 2, done: 3 } as const

/** One job on its way through a worker. */
export class JobRun {
  readonly id: number
  readonly #context: JobRunContext
  #stage = 0
  #waits: { readonly stage: number; readonly resolve: () => void }[] | undefined
  #abort: AbortController | undefined
  #isAborted = false
  #updates: Set<Promise<void>> | undefined

  constructor(id: number, context: JobRunContext) {
    this.id = id
    this.#context = context
  }

  get hasBegun(): boolean {
    return this.#stage >= stages.begun
  }

  /** Calls the handler, at once if the input is there. `input`: what the start of the job brings. */
  start(input: Input): void {
    if (input instanceof Promise) {
      input.then(
        (bytes) => this.#work(bytes),
        (error: unknown) => this.#fail(error),
      )
    } else this.#work(input)
  }

  /** Resolves when the job has come so far; one that cannot begin goes to its end. */
  async reached(name: keyof typeof stages): Promise<void> {
    const stage = stages[name]
    if (this.#stage >= stage) return
    await new Promise<void>((resolve) => (this.#waits ??= []).push({ stage, resolve }))
  }

  abort(): void {
    this.#isAborted = true
    this.#abort?.abort()
  }

  #reach(stage: number): void {
    this.#stage = stage
    for (const wait of this.#waits ?? []) if (wait.stage <= stage) wait.resolve()
  }

  #work(input: Buffer | undefined): void {
    this.#reach(stages.begun)
    if (!input) {
      this.#fail('the job has no input')
      return
    }
    let output: Output | Promise<Output>
    try {
      output = this.#context.handler(this.#jobOf(input))
    } catch (error) {
      this.#fail(error)
      return
    }
    if (isThenable(output)) {
      Promise.resolve(output).then(
        (known) => this.#succeed(known),
        (error: unknown) => this.#fail(error),
      )
    } else this.#succeed(output)
  }

  #succeed(output: Output): void {
    let outcome: Outcome
    try {
      outcome = { status: 'success', output: valueOf(output ?? '') }
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#handled(outcome)
  }

  /** An error outcome for anything that was thrown. */
  #fail(error: unknown): void {
    this.#handled({ status: 'error', output: messageOf(error) })
  }

  #handled(outcome: Outcome): void {
    this.#reach(stages.handled)
    if (!this.#updates?.size) this.#report(outcome)
    else void Promise.allSettled(this.#updates).then(() => this.#report(outcome))
  }

  #report(outcome: Outcome): void {
    this.#context.reports.end(this.id, outcome, (isReported) => {
      const { fn, onError, onDone } = this.#context
      this.#reach(stages.done)
      onDone(this)
      if (!isReported)
        onError(new GearMonkeyError('OUTCOME_LOST', `${fn} ${this.id}`, { ids: [this.id] }))
    })
  }

  #jobOf(input: Buffer): Job {
    const signal = (): AbortSignal => this.#signal()
    return {
      fn: this.#context.fn,
      id: this.id,
      input,
      update: (dividend, divisor) => this.#update(dividend, divisor),
      // Few handlers look at it, and it costs more than the rest of a job's objects.
      get signal() {
        return signal()
      },
    }
  }

  #signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController()
      if (this.#isAborted) this.#abort.abort()
    }
    return this.#abort.signal
  }

  #update(dividend: number, divisor: number): Promise<void> {
    const update = this.#sendUpdate(dividend, divisor)
    const updates = (this.#updates ??= new Set())
    updates.add(update)
    const settled = (): unknown => updates.delete(update)
    update.then(settled, settled)
    return update
  }

  async #sendUpdate(dividend: number, divisor: number): Promise<void> {
    const { fn, commands } = this.#context
    if (!Number.isFinite(dividend) || !Number.isFinite(divisor)) {
      throw new GearMonkeyError('BAD_ARGUMENT', `progress is ${dividend} of ${divisor}`)
    }
    if (this.#stage >= stages.handled) throw new GearMonkeyError('JOB_OVER', `${fn} ${this.id}`)
    try {
      await commands.progress(fn, this.id, dividend, divisor)
    } catch (cause) {
      throw new GearMonkeyError('REPORT_FAILED', `${fn} ${this.id}: ${messageOf(cause)}`, { cause })
    }
  }
}

function isThenable(output: Output | Promise<Output>): output is Promise<Output> {
  return typeof output === 'object' && output !== null && 'then' in output
}
