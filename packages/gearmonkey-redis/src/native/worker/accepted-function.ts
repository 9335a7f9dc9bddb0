import { setTimeout as delay } from 'node:timers/promises'
import type { Commands } from '../commands.ts'
import { closeConnection } from '../connections.ts'
import { loadDueScript, takeDue } from '../due-script.ts'
import { GearMonkeyError, messageOf, type GearMonkeyErrorCode } from '../errors.ts'
import { idOf } from '../job-record.ts'
import { SingleReports } from './job-reports.ts'
import { JobRun, type JobHandler, type JobRunContext } from './job-run.ts'
import { JobSteps } from './job-steps.ts'
import { within } from '../within.ts'

/** Pause after a refusal by the server, milliseconds. */
const pauseMs = 500
/** A worker's BRPOP ends by itself after 1 s; a stop waits this long for it, milliseconds. */
const pollEndsWithinMs = 3_000

export interface AcceptedFunctionOptions {
  readonly fn: string
  readonly handler: JobHandler
  readonly concurrency: number
  /** Shared by all functions of the worker. */
  readonly reports: Commands
  /** A connection for this function alone, since its BRPOP blocks it. */
  readonly polls: Commands
  readonly onError: (error: GearMonkeyError) => void
  readonly nowSeconds: () => number
}

/**
 * A worker's loop for one function. It waits for a job as the text says; with several at once, steps report what has
 * gathered and take the jobs behind the first one.
 */
export class AcceptedFunction {
  readonly #options: AcceptedFunctionOptions
  readonly #context: JobRunContext
  readonly #running = new Set<JobRun>()
  /** Aborted when no more jobs are to be handed out. */
  readonly #stopping = new AbortController()
  /** Aborted when the connections are gone. */
  readonly #closed = new AbortController()
  /** Undefined for a worker of one job at a time. */
  readonly #steps: JobSteps | undefined
  #loop: Promise<void> = Promise.resolve()
  #registered: Promise<void> = Promise.resolve()
  #isCounted = false
  #slotFreed: () => void = ignored

  constructor(options: AcceptedFunctionOptions) {
    this.#options = options
    const { fn, handler, reports: commands, concurrency, onError, nowSeconds } = options
    const single = new SingleReports(fn, commands, (report) => this.#persist(report))
    if (concurrency > 1) {
      this.#steps = new JobSteps({
        fn,
        commands,
        single,
        nowSeconds,
        concurrency,
        running: this.#running,
        onJob: (id) => this.#begin(id),
        onBadId: (text) => this.#dropped(text),
      })
    }
    const onDone = (run: JobRun): void => {
      this.#running.delete(run)
      this.#slotFreed()
    }
    this.#context = { fn, handler, commands, onError, onDone, reports: this.#steps ?? single }
  }

  /** Registers, then polls. */
  async start(): Promise<void> {
    this.#registered = this.#register()
    await this.#registered
  }

  /** Returns when the loop and every handler have ended. */
  async handOutNoMore(): Promise<void> {
    this.#stopping.abort()
    this.#slotFreed() // the loop need not wait for a job it will not take
    const lastTaken = this.#steps?.stopTaking()
    await within(this.#registered.catch(ignored), pollEndsWithinMs, undefined)
    await within(Promise.all([this.#loop, lastTaken]), pollEndsWithinMs, undefined)
    closeConnection(this.#options.polls.connection)
    await this.#loop
    const runs = [...this.#running]
    // A job whose start the server does not accept is not waited for.
    await within(Promise.all(runs.map((run) => run.reached('begun'))), pollEndsWithinMs, undefined)
    await Promise.all(runs.filter((run) => run.hasBegun).map((run) => run.reached('handled')))
  }

  /** Returns when every outcome is reported and the worker is no longer counted. */
  async leave(): Promise<void> {
    await Promise.all([...this.#running].map((run) => run.reached('done')))
    if (!this.#isCounted) return
    this.#isCounted = false
    try {
      await this.#options.reports.countOut(this.#options.fn)
    } catch (error) {
      this.#say('REPORT_FAILED', error)
    }
    await this.#steps?.forget().catch(ignored) // it would expire
  }

  /** Aborts the signals of the running jobs. */
  abort(): void {
    for (const run of this.#running) run.abort()
  }

  close(): void {
    this.#stopping.abort()
    this.#closed.abort()
    closeConnection(this.#options.polls.connection)
  }

  async #register(): Promise<void> {
    const { fn, polls } = this.#options
    await loadDueScript(polls)
    if (this.#isStopping()) throw new GearMonkeyError('STOPPED', fn)
    await polls.countIn(fn)
    this.#isCounted = true
    this.#loop = this.#poll()
  }

  async #poll(): Promise<void> {
    while (!this.#isStopping()) {
      if (this.#running.size >= this.#options.concurrency) {
        await new Promise<void>((resolve) => (this.#slotFreed = resolve))
      } else {
        await this.#turn()
      }
    }
  }

  /** Takes a job and begins it, and then those behind it. */
  async #turn(): Promise<void> {
    let id: number | undefined
    try {
      id = await this.#take()
    } catch (error) {
      if (!this.#isStopping()) this.#say('POLL_FAILED', error)
      await pause(this.#stopping.signal)
    }
    if (id === undefined) return
    const run = this.#begin(id)
    this.#context.reports.begin(id, (input) => run.start(input))
    await this.#steps?.takeAll()
  }

  /** Due scheduled jobs first; the blocking pop only if there is none. */
  async #take(): Promise<number | undefined> {
    const { fn, polls, nowSeconds } = this.#options
    const reply = (await takeDue(polls, fn, nowSeconds())) ?? (await polls.take(fn))
    if (!Array.isArray(reply)) return undefined
    const text = String(reply[1])
    const id = idOf(text)
    if (id === undefined) this.#dropped(text)
    return id
  }

  #dropped(text: string): void {
    const { fn, onError } = this.#options
    onError(new GearMonkeyError('BAD_ID', `${fn}: ${text}`))
  }

  #begin(id: number): JobRun {
    const run = new JobRun(id, this.#context)
    this.#running.add(run)
    return run
  }

  async #persist(report: () => Promise<unknown>): Promise<boolean> {
    while (!this.#isClosed()) {
      try {
        await report()
        return true
      } catch (error) {
        if (this.#isClosed()) return false
        this.#say('REPORT_FAILED', error)
        await pause(this.#closed.signal)
      }
    }
    return false
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  #isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  #say(code: GearMonkeyErrorCode, cause: unknown): void {
    const { fn, onError } = this.#options
    onError(new GearMonkeyError(code, `${fn}: ${messageOf(cause)}`, { cause }))
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(pauseMs, undefined, { signal }).catch(ignored)
}

function ignored(): void {
  // its waiting client gets the error
}
