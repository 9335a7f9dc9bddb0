import { setTimeout as delay } from 'node:timers/promises'
import type { Commands } from './commands.ts'
import { closeConnection } from './connections.ts'
import { loadDueScript, takeDue } from './due-script.ts'
import { GearMonkeyError, messageOf, type GearMonkeyErrorCode } from './errors.ts'
import { JobRun, type JobHandler, type JobRunContext } from './job-run.ts'

/** The pause after something that the server refused, milliseconds. */
const pauseMs = 500
/** A BRPOP of a worker ends by itself after 1 s; this is how long a stop waits for it, milliseconds. */
const pollEndsWithinMs = 3_000

export interface AcceptedFunctionOptions {
  readonly fn: string
  readonly handler: JobHandler
  readonly concurrency: number
  /** Shared by all functions of the worker. */
  readonly reports: Commands
  /** Of this function alone, since its BRPOP blocks it. */
  readonly polls: Commands
  readonly onError: (error: GearMonkeyError) => void
  readonly nowSeconds: () => number
}

/** A worker's loop for one function. */
export class AcceptedFunction {
  readonly #options: AcceptedFunctionOptions
  readonly #context: JobRunContext
  readonly #running = new Set<JobRun>()
  /** Aborted when no more jobs are to be handed out. */
  readonly #stopping = new AbortController()
  /** Aborted when the connections are gone. */
  readonly #closed = new AbortController()
  #loop: Promise<void> = Promise.resolve()
  #isCounted = false

  constructor(options: AcceptedFunctionOptions) {
    this.#options = options
    this.#context = {
      fn: options.fn,
      handler: options.handler,
      commands: options.reports,
      onError: options.onError,
      persist: (report) => this.#persist(report),
    }
  }

  /** Registers, then polls. */
  async start(): Promise<void> {
    const { fn, polls } = this.#options
    await loadDueScript(polls)
    if (this.#stopping.signal.aborted) throw new GearMonkeyError('STOPPED', fn)
    await polls.countIn(fn)
    this.#isCounted = true
    this.#loop = this.#poll()
  }

  /** Returns when the loop has ended and every handler has come to its end. */
  async handOutNoMore(): Promise<void> {
    this.#stopping.abort()
    const lost = setTimeout(() => closeConnection(this.#options.polls.connection), pollEndsWithinMs)
    await this.#loop
    clearTimeout(lost)
    await Promise.all([...this.#running].map((run) => run.handled))
  }

  /** Returns when every outcome is reported and the worker is no longer counted. */
  async leave(): Promise<void> {
    await Promise.all([...this.#running].map((run) => run.done))
    if (!this.#isCounted) return
    this.#isCounted = false
    try {
      await this.#options.reports.countOut(this.#options.fn)
    } catch (error) {
      this.#say('REPORT_FAILED', error)
    }
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

  async #poll(): Promise<void> {
    const { concurrency } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      if (this.#running.size >= concurrency) {
        await Promise.race([...this.#running].map((run) => run.done))
        continue
      }
      try {
        const id = await this.#take()
        if (id !== undefined) this.#begin(id)
      } catch (error) {
        if (signal.aborted) return
        this.#say('POLL_FAILED', error)
        await pause(signal)
      }
    }
  }

  /** Scheduled jobs that are due first; the blocking pop only if there is none. */
  async #take(): Promise<number | undefined> {
    const { fn, polls, nowSeconds } = this.#options
    const reply = (await takeDue(polls, fn, nowSeconds())) ?? (await polls.take(fn))
    if (!Array.isArray(reply)) return undefined
    const text = String(reply[1])
    const id = Number(text)
    if (/^\d+$/.test(text) && Number.isSafeInteger(id)) return id
    this.#options.onError(new GearMonkeyError('BAD_ID', `${String(reply[0])}: ${text}`))
    return undefined
  }

  #begin(id: number): void {
    const run = new JobRun(id, this.#context)
    this.#running.add(run)
    void run.done.then(() => this.#running.delete(run))
  }

  async #persist(report: () => Promise<unknown>): Promise<boolean> {
    const { signal } = this.#closed
    while (!signal.aborted) {
      try {
        await report()
        return true
      } catch (error) {
        if (signal.aborted) return false
        this.#say('REPORT_FAILED', error)
        await pause(signal)
      }
    }
    return false
  }

  #say(code: GearMonkeyErrorCode, cause: unknown): void {
    const { fn, onError } = this.#options
    onError(new GearMonkeyError(code, `${fn}: ${messageOf(cause)}`, { cause }))
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(pauseMs, undefined, { signal }).catch(() => undefined)
}
