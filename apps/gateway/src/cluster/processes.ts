import { setTimeout as delay } from 'node:timers/promises'
import { oneLine } from '../errors.ts'
import type { Logger } from '../ops/log/logger.ts'
import type { Readiness } from '../ops/web-server.ts'
import { GatewayProcess, type ProcessEvents } from './gateway-process.ts'
import type { Prepared, Task } from './messages.ts'
import { Watchdog } from './watchdog.ts'

/** A process is started again at once, but no sooner than so long after its last start. */
const againAfterMs = 1000
/** Starts of a process that fail in a row, the store being well, before the gateway gives up. */
const mostFailedStarts = 5
/** Sooner than the web port gives up. */
const readyWithinMs = 1500
/** How long processes may take to close their connections. */
const closeWithinMs = 10_000

export interface ProcessesParts {
  readonly count: number
  readonly log: Logger
  readonly shutdown: (graceful: boolean) => void
  /** True if a server of the store answers. */
  readonly storeAnswers: () => Promise<boolean>
  /** A process serves, or takes no more connections. */
  readonly changed: () => void
  /** A process that served has ended. */
  readonly departed: (process: GatewayProcess) => void
  /** A process cannot be started any more. */
  readonly fail: (reason: string) => void
  /** How often a process says that it lives, ms. */
  readonly aliveEveryMs: number
}

/** The processes that do the gateway's work: started together, and again when one ends. */
export class Processes {
  readonly #parts: ProcessesParts
  readonly #stopping = new AbortController()
  /** By number, from 0. */
  readonly #all: GatewayProcess[]
  readonly #watchdog: Watchdog
  #taskOf: ((number: number) => Task) | undefined

  /** They start, and wait for what they are to do. */
  constructor(parts: ProcessesParts) {
    this.#parts = parts
    this.#all = Array.from({ length: parts.count }, (_, at) => this.#fork(at + 1))
    const { log, aliveEveryMs: everyMs } = parts
    this.#watchdog = new Watchdog({ log, everyMs, processes: () => this.#all })
  }

  get all(): readonly GatewayProcess[] {
    return this.#all
  }

  /**
   * Tells them what they are to do; resolves with what each takes connections for when all do.
   *
   * @throws StartError, the first of any of them.
   */
  async start(taskOf: (number: number) => Task): Promise<Prepared> {
    this.#taskOf = taskOf
    for (const process of this.#all) process.start(taskOf(process.number))
    const [prepared] = await Promise.all(this.#all.map((process) => process.prepared))
    return prepared ?? { names: [], portRequests: [] }
  }

  /** From now on a process that ends is started again. */
  keep(): void {
    for (const process of this.#all) void this.#keep(process)
  }

  /** Processes that end are left so. */
  leave(): void {
    this.#stopping.abort()
  }

  /** Ready if all of them take jobs. */
  async check(): Promise<Readiness> {
    const missing = this.#all.find(({ serves }) => !serves)
    if (missing) {
      return { ready: false, reason: `process ${missing.number} is being started again` }
    }
    const answers = await Promise.all(
      this.#all.map((process) => process.ask(readyWithinMs, 'readiness')),
    )
    return answers.find(({ ready }) => !ready) ?? { ready: true }
  }

  /** Jobs in the hands of their workers, and queued ones: none if none of them knows of one. */
  async unfinished(): Promise<number> {
    const counts = await Promise.all(
      this.#serving().map((process) => process.ask(undefined, 'unfinished')),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** Asks all; one that ends meanwhile has done so too. */
  async notifyAll(name: 'stopAccepting' | 'drain' | 'idle' | 'reopenLog'): Promise<void> {
    await Promise.allSettled(this.#serving().map((process) => process.ask(0, name)))
  }

  /** They close their connections and end; those that do not are ended. */
  async close(): Promise<void> {
    this.leave()
    for (const process of this.#all) process.close()
    const timer = new AbortController()
    const tooLate = delay(closeWithinMs, undefined, { signal: timer.signal }).then(
      () => this.kill(),
      () => undefined,
    )
    await Promise.all(this.#all.map(({ exited }) => exited))
    timer.abort()
    await tooLate
    this.#watchdog.stop()
  }

  kill(): void {
    this.leave()
    for (const process of this.#all) process.kill()
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  #serving(): readonly GatewayProcess[] {
    return this.#all.filter(({ serves }) => serves)
  }

  #fork(number: number): GatewayProcess {
    const { shutdown, changed } = this.#parts
    const news: ProcessEvents['news'] = (item, from) => {
      for (const process of this.#all) if (process !== from) process.notify(item)
    }
    return new GatewayProcess(number, { shutdown, changed, news })
  }

  async #keep(first: GatewayProcess): Promise<void> {
    const { log, departed, changed } = this.#parts
    for (let process: GatewayProcess | undefined = first; process;) {
      const how = await process.exited
      if (this.#isStopping()) return
      log.error(`Process ${process.number} ended (${how}): starting it again.`)
      departed(process)
      process = await this.#again(process)
      if (process) log.info(`Process ${process.number} runs again.`)
      changed()
    }
  }

  /** The next process of the same number, once it serves; undefined if the gateway stops. */
  async #again(ended: GatewayProcess): Promise<GatewayProcess | undefined> {
    const { signal } = this.#stopping
    let { startedAt } = ended
    for (let failures = 0; failures < mostFailedStarts;) {
      const waitMs = Math.max(startedAt + againAfterMs - performance.now(), 0)
      await delay(waitMs, undefined, { signal }).catch(() => undefined)
      if (this.#isStopping() || !this.#taskOf) return undefined
      const process = this.#fork(ended.number)
      startedAt = process.startedAt
      this.#all[ended.number - 1] = process
      process.start(this.#taskOf(ended.number))
      try {
        await process.prepared
        return process
      } catch (error) {
        await process.exited
        if (this.#isStopping()) return undefined
        this.#parts.log.error(`Process ${ended.number} did not start: ${oneLine(error)}`)
        // Without its store no process can start: that is waited for.
        if (await this.#storeTakesJobs()) failures += 1
      }
    }
    const reason = `process ${ended.number} did not start, ${mostFailedStarts} times in a row`
    this.#parts.log.fatal(`The gateway ends: ${reason}.`)
    this.#parts.fail(reason)
    return undefined
  }

  /** As a process that serves finds. */
  async #storeTakesJobs(): Promise<boolean> {
    const [process] = this.#serving()
    if (!process) return await this.#parts.storeAnswers()
    const readiness = await process.ask(undefined, 'readiness').catch(() => undefined)
    return readiness?.ready !== false
  }
}
