import type { Commands, Value } from './commands.ts'
import { GearMonkeyError, messageOf } from './errors.ts'
import { jobRecordOf } from './job-record.ts'
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
  /** Repeats a report until the server accepts it; false if the worker was closed first. */
  readonly persist: (report: () => Promise<unknown>) => Promise<boolean>
  readonly onError: (error: GearMonkeyError) => void
}

interface Outcome {
  readonly status: 'success' | 'error'
  readonly output: Value
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
  readonly #abort = new AbortController()
  readonly #updates = new Set<Promise<void>>()
  #hasBegun = false
  #isOver = false

  constructor(id: number, context: JobRunContext) {
    this.id = id
    this.#context = context
    const input = this.#begin()
    this.begun = input.then(
      () => undefined,
      () => undefined,
    )
    const outcome = this.#work(input)
    this.handled = outcome.then(() => undefined)
    this.done = outcome.then((known) => this.#report(known))
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  abort(): void {
    this.#abort.abort()
  }

  /** Never rejects: whatever is thrown is the outcome. */
  async #work(begun: Promise<Buffer | undefined>): Promise<Outcome> {
    try {
      const input = await begun
      if (!input) return { status: 'error', output: 'the job has no input' }
      const { fn, handler } = this.#context
      const output = await handler({
        fn,
        id: this.id,
        input,
        update: (dividend, divisor) => this.#update(dividend, divisor),
        signal: this.#abort.signal,
      })
      return { status: 'success', output: valueOf(output ?? '') }
    } catch (error) {
      return { status: 'error', output: messageOf(error) }
    } finally {
      this.#isOver = true
    }
  }

  async #begin(): Promise<Buffer | undefined> {
    const { fn, commands, persist } = this.#context
    let hash: unknown
    const begun = await persist(async () => {
      const replies = await commands.inOrder([
        () => commands.publish(fn, 'start', this.id),
        () => commands.markBusy(fn, this.id),
        () => commands.read(fn, this.id),
      ])
      hash = replies[2]
    })
    if (!begun) throw new Error('the worker was stopped before the job began')
    this.#hasBegun = true
    return jobRecordOf(hash)?.input
  }

  async #report({ status, output }: Outcome): Promise<void> {
    const { fn, commands, persist, onError } = this.#context
    await Promise.allSettled(this.#updates)
    // The outcome is stored first: the commands below announce it.
    const reported =
      (await persist(() => commands.outcome(fn, this.id, status, output))) &&
      (await persist(() =>
        commands.inOrder([
          () => commands.expireJob(fn, this.id),
          () => commands.publish(fn, 'finish', this.id),
          () => commands.unlock(fn, this.id),
          () => commands.expireLock(fn, this.id),
        ]),
      ))
    if (!reported)
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
