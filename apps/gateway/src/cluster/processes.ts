import { setTimeout as delay } from 'node:timers/promises'
import { oneLine } from '../errors.ts'
import type { Logger } from '../ops/log/logger.ts'
import type { Readiness } from '../ops/web-server.ts'
import { GatewayProcess, type ProcessEvents } from './gateway-process.ts'
import type { PlainSettings, Prepared, Task } from './messages.ts'
import { Watchdog } from './watchdog.ts'

/** Least time between two starts of a process, ms. */
const againAfterMs = 1000
/** Failed starts in a row, with a healthy store, after which the gateway gives up. */
const mostFailedStarts = 5
/** Shorter than the web port's own limit. */
const readyWithinMs = 1500
/** Time for processes to close their connections. */
const closeWithinMs = 10_000

export interface ProcessesParts {
  readonly count: number
  readonly log: Logger
  readonly shutdown: (graceful: boolean) => void
  /** True if a server of the store answers. */
  readonly storeAnswers: () => Promise<boolean>
  /** A process serves, or takes no more connections. */
  readonly changed: () => void
  /** A serving process has ended. */
  readonly departed: (process: GatewayProcess) => void
  /** A process cannot be started any more. */
  readonly fail: (reason: string) => void
  /** Interval of a process's heartbeats, ms. */
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
  /** Settings of the last reload. */
  #settings: PlainSettings | undefined

  /** Starts the processes, which then wait for their task. */
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
   * Sends the tasks; resolves with the doors of each process once all are ready.
   *
   * @throws StartError, the first of any of them.
   */
  async start(taskOf: (number: number) => Task): Promise<Prepared> {
    this.#taskOf = taskOf
    for (const process of this.#all) process.start(taskOf(process.number))
    const [prepared] = await Promise.all(this.#all.map((process) => process.prepared))
    return prepared ?? { names: [], portRequests: [] }
  }

  /** From now on a process that ends is restarted. */
  keep(): void {
    for (const process of this.#all) void this.#keep(process)
  }

  /** From now on processes that end are not restarted. */
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

  /** Jobs that their workers hold, and queued ones. */
  async unfinished(): Promise<number> {
    const counts = await Promise.all(
      this.#serving().map((process) => process.ask(undefined, 'unfinished')),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** Asks all; a process that ends meanwhile counts as done. */
  async notifyAll(name: 'stopAccepting' | 'drain' | 'idle' | 'reopenLog'): Promise<void> {
    await Promise.allSettled(this.#serving().map((process) => process.ask(0, name)))
  }

  /**
   * Gives all of them other settings. A process that ends meanwhile gets them when it starts again.
   *
   * @throws Error of the first that did not take them.
   */
  async configure(settings: PlainSettings): Promise<void> {
    this.#settings = settings
    await Promise.all(
      this.#serving().map((process) =>
        process.ask(undefined, 'configure', settings).catch((error: unknown) => {
          if (process.serves) throw error
        }),
      ),
    )
  }

  /** They close their connections and end; the others are killed. */
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
      log.error(`Process ${process.number} ended (${how}): restarting it.`)
      departed(process)
      process = await this.#again(process)
      if (process) log.info(`Process ${process.number} is running again.`)
      changed()
    }
  }

  /** The successor of a process once it serves; undefined if the gateway stops. */
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
      const before = this.#settings
      process.start(this.#taskOf(ended.number))
      try {
        await process.prepared
        if (this.#settings && this.#settings !== before) {
          await process.ask(undefined, 'configure', this.#settings)
        }
        return process
      } catch (error) {
        await process.exited
        if (this.#isStopping()) return undefined
        this.#parts.log.error(`Process ${ended.number} did not start: ${oneLine(error)}`)
        // No process can start without the store, so this waits for it.
        if (await this.#storeTakesJobs()) failures += 1
      }
    }
    const reason = `process ${ended.number} did not start, ${mostFailedStarts} times in a row`
    this.#parts.log.fatal(`The gateway ends: ${reason}.`)
    this.#parts.fail(reason)
    return undefined
  }

  /** Asks a serving process. */
  async #storeTakesJobs(): Promise<boolean> {
    const [process] = this.#serving()
    if (!process) return await this.#parts.storeAnswers()
    const readiness = await process.ask(undefined, 'readiness').catch(() => undefined)
    return readiness?.ready !== false
  }
}
