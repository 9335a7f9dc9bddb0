import type { Commands } from './commands.ts'
import { GearMonkeyError, messageOf } from './errors.ts'
import type { Input, JobReports, Outcome } from './job-reports.ts'
import { valueOf, type Payload } from './submission.ts'

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
}

/** One job on its way through a worker. */
export class JobRun {
  readonly id: number
  /** Resolves when the server knows that the job is busy, or the worker was closed before. */
  readonly begun: Promise<void>
  /** Resolves when the handler has come to its end. */
  readonly handled: Promise<void>
  /** Resolves when the outcome is reported too. */
  readonly done: Promise<void>
  readonly #context: JobRunContext
  #abort: AbortController | undefined
  #isAborted = false
  readonly #updates = new Set<Promise<void>>()
  #hasBegun = false
  #isOver = false

  /** `input`: what the start of the job brings. */
  constructor(id: number, input: Input, context: JobRunContext) {
    this.id = id
    this.#context = context
    const begun = Promise.resolve(input)
    this.begun = begun.then(ignored, ignored)
    const outcome = this.#work(begun)
    this.handled = outcome.then(ignored)
    this.done = outcome.then((known) => this.#report(known))
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  abort(): void {
    this.#isAborted = true
    this.#abort?.abort()
  }

  /** Never rejects: whatever is thrown is the outcome. */
  async #work(begun: Promise<Buffer | undefined>): Promise<Outcome> {
    try {
      const input = await begun
      this.#hasBegun = true
      if (!input) return { status: 'error', output: 'the job has no input' }
      const output = await this.#context.handler(this.#jobOf(input))
      return { status: 'success', output: valueOf(output ?? '') }
    } catch (error) {
      return { status: 'error', output: messageOf(error) }
    } finally {
      this.#isOver = true
    }
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

  async #report(outcome: Outcome): Promise<void> {
    const { fn, reports, onError } = this.#context
    if (this.#updates.size > 0) await Promise.allSettled(this.#updates)
    if (!(await reports.end(this.id, outcome)))
      onError(new GearMonkeyError('OUTCOME_LOST', `${fn} ${this.id}`, { ids: [this.id] }))
  }

  #update(dividend: number, divisor: number): Promise<void> {
    const update = this.#sendUpdate(dividend, divisor)
    this.#updates.add(update)
    const settled = (): unknown => this.#updates.delete(update)
    update.then(settled, settled)
    return update
  }

  async #sendUpdate(dividend: number, divisor: number): Promise<void> {
    const { fn, commands } = this.#context
    if (!Number.isFinite(dividend) || !Number.isFinite(divisor)) {
      throw new GearMonkeyError('BAD_ARGUMENT', `progress is ${dividend} of ${divisor}`)
    }
    if (this.#isOver) throw new GearMonkeyError('JOB_OVER', `${fn} ${this.id}`)
    try {
      await commands.progress(fn, this.id, dividend, divisor)
    } catch (cause) {
      throw new GearMonkeyError('REPORT_FAILED', `${fn} ${this.id}: ${messageOf(cause)}`, { cause })
    }
  }
}

function ignored(): void {
  // the run itself reports what becomes of it
}
