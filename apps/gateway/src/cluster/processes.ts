import { setTimeout as delay } from 'node:timers/promises'
import { oneLine } from '../errors.ts'
import { storeAnswers } from '../redis-server/given-store.ts'
import type { OpenDoor } from '../ops/log/banner.ts'
import { type Opening, openOwn, waitForStore } from '../server/open.ts'
import type { Closers, RunningGateway } from '../server/shutdown.ts'
import { bindPorts, type BoundSocket, type SharedSocket } from './bound-ports.ts'
import { GatewayProcess } from './gateway-process.ts'
import type { ChildSettings } from './child.ts'

/** Interval of a process's heartbeats, ms. */
const usualAliveEveryMs = 5000
/** Least time between two starts of a process, ms. */
const againAfterMs = 1000
/** Failed starts in a row, with a healthy store and no process that serves, after which the gateway gives up. */
const mostFailedStarts = 5
/** Checks without a heartbeat, one per interval, before a process is killed. */
const mostSilentChecks = 6
/** Time for processes to end once they were asked to, ms. */
const endWithinMs = 10_000

/** Opens a gateway of several processes: this one starts the others on its sockets, and serves no client itself. */
export async function openProcesses(opening: Opening, closers: Closers): Promise<RunningGateway> {
  const { config, ways } = opening
  const bound: BoundSocket[] = []
  const closePorts = (): void => bound.splice(0).forEach((socket) => socket.close())
  closers.push({ what: 'ports', close: closePorts })
  // They load their program while the store starts.
  const processes = new Processes(opening, await bindPorts(config, opening.sockets, bound))
  closers.push({ what: 'processes', close: () => processes.close() })
  // The first process has the web port.
  const { wait, web } = waitForStore(opening, closers)
  const store = await wait.for(() => openOwn(opening))
  await web()?.close()
  closers.unshift({ what: 'store', close: () => store.close() })
  const { address, kind, describe, nativeUrl } = store
  const doors = await processes.start({
    parentPid: process.pid,
    store: { address, kind, describe, nativeUrl },
    aliveEveryMs: ways.aliveEveryMs ?? usualAliveEveryMs,
  })
  process.on('SIGHUP', () => processes.reload())
  const leave = (signal: NodeJS.Signals): void => {
    closePorts()
    processes.leave(signal)
  }
  return {
    store,
    doors,
    // They read the settings themselves.
    configure: () => Promise.resolve(),
    state: () => Promise.resolve(processes.printStates()),
    stopAccepting: () => leave('SIGUSR1'),
    unfinished: () => Promise.resolve(processes.serving.length),
    drain: () => leave('SIGTERM'),
    idle: () => processes.ended(),
    abandon: () => leave('SIGKILL'),
  }
}

/** The processes of a gateway: started together, and again when one ends. */
class Processes {
  readonly #opening: Opening
  readonly #sockets: readonly SharedSocket[]
  /** By number, from 0. */
  readonly #all: GatewayProcess[]
  #reloads = 0
  #isStopping = false

  /** Starts the processes, which then wait for their settings. */
  constructor(opening: Opening, sockets: readonly SharedSocket[]) {
    this.#opening = opening
    this.#sockets = sockets
    const { processes } = opening.config
    this.#all = Array.from({ length: processes }, (_, at) => new GatewayProcess(at + 1, sockets))
  }

  get serving(): readonly GatewayProcess[] {
    return this.#all.filter(({ serves }) => serves)
  }

  /**
   * Gives them their settings; resolves with the doors once all serve. From then on one that ends is started again.
   *
   * @throws StartError, the first of any of them.
   */
  async start(settings: Omit<ChildSettings, 'number'>): Promise<readonly OpenDoor[]> {
    for (const process of this.#all) process.start(settings)
    setInterval(() => this.#check(settings.aliveEveryMs), settings.aliveEveryMs).unref()
    const doors = await Promise.all(this.#all.map(({ ready }) => ready))
    for (const process of this.#all) void this.#keep(process, settings)
    // Each has a web port of its own.
    return doors.flatMap((own, at) => own.filter(({ name }) => at === 0 || name === 'web'))
  }

  /** Makes the serving processes read the settings, and open the log, again. */
  reload(): void {
    this.#reloads += 1
    for (const { child } of this.serving) child.kill('SIGHUP')
  }

  /** Each prints its own state. */
  printStates(): readonly string[] {
    for (const { child } of this.serving) child.kill('SIGTTIN')
    return this.serving.map(({ number, child }) => `process ${number} is ${child.pid ?? 'gone'}.`)
  }

  /** Asks all to end; none is started again. One that does not serve yet cannot end gracefully. */
  leave(signal: NodeJS.Signals): void {
    this.#isStopping = true
    for (const { child, serves } of this.#all) {
      child.kill(signal === 'SIGUSR1' && !serves ? 'SIGTERM' : signal)
    }
  }

  /** Settles when all have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#all.map(({ exited }) => exited))
  }

  /** They end; the others are killed. */
  async close(): Promise<void> {
    this.leave('SIGTERM')
    const tooLate = setTimeout(() => this.leave('SIGKILL'), endWithinMs)
    await this.ended()
    clearTimeout(tooLate)
  }

  /** Starts a process again whenever it ends. */
  async #keep(first: GatewayProcess, settings: Omit<ChildSettings, 'number'>): Promise<void> {
    const { log, fail } = this.#opening
    const { number } = first
    const isStopping = () => this.#isStopping
    for (let last = first, failures = 0; failures < mostFailedStarts;) {
      const how = await last.exited
      if (isStopping()) return
      log.error(`Process ${number} ended (${how}): restarting it.`)
      await delay(Math.max(last.startedAt + againAfterMs - performance.now(), 0))
      if (isStopping()) return
      const reloads = this.#reloads
      last = new GatewayProcess(number, this.#sockets)
      this.#all[number - 1] = last
      last.start(settings)
      const failure = await last.ready.then(() => undefined, oneLine)
      if (isStopping()) return
      if (failure === undefined) {
        log.info(`Process ${number} is running again.`)
        failures = 0
        if (this.#reloads > reloads) last.child.kill('SIGHUP')
        continue
      }
      log.error(`Process ${number} did not start: ${failure}`)
      // No process can start without the store, so this waits for it.
      if (this.serving.length === 0 && (await storeAnswers(settings.store.address))) failures += 1
    }
    const reason = `process ${number} did not start, ${mostFailedStarts} times in a row`
    log.fatal(`The gateway ends: ${reason}.`)
    fail(reason)
  }

  /** Kills frozen processes. It counts checks, not time: if the whole machine was frozen, no process is at fault. */
  #check(everyMs: number): void {
    for (const process of this.#all) {
      if (process.silentChecks === undefined) continue
      process.silentChecks += 1
      if (process.silentChecks !== mostSilentChecks) continue
      const seconds = (mostSilentChecks * everyMs) / 1000
      const { log } = this.#opening
      log.error(`Process ${process.number} sent no heartbeat for ${seconds} s: killing it.`)
      process.child.kill('SIGKILL')
    }
  }
}
