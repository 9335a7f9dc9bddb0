import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config/load-config.ts'
import { flagOf, optionRow } from '../config/options.ts'
import { portNames } from '../config/port-options.ts'
import { socketNames } from '../doors/names.ts'
import { StartError } from '../errors.ts'
import {
  type InheritedSockets,
  openInherited,
  readInheritedSockets,
} from '../doors/net/inherited-sockets.ts'
import { announce } from './banner.ts'
import { chooseVoice, createLogger, type Logger } from '../config/log/logger.ts'
import { readPortTls, type Settings } from './doors.ts'
import { notify } from './notify.ts'
import { checkOpenNetwork, checkOpenSocket } from './open-network.ts'
import { openGateway, type Opening, type ServeWays } from './open.ts'
import { Reloader } from './reload.ts'
import { StateSignal } from './state.ts'
import {
  closeAll,
  type Closers,
  drain,
  type RunningGateway,
  type StopReason,
  StopSignals,
} from './shutdown.ts'
import { setFlagsFromString } from 'node:v8'
import { isatty } from 'node:tty'
import type { Reload } from '../web/api/schemas/session.ts'

/** A shell's code for an interrupted program. */
const interruptedCode = 130
/** Time for the store to end at an impatient stop, and for an aborted start. */
const storeEndMs = 2000
/** Interval at which a graceful end checks for remaining jobs. */
const lookAgainMs = 100

/**
 * Runs the gateway until it is asked to stop, and returns the exit code:
 *
 *     TLS files -> store -> objects -> doors -> web -> ready -> (signal) -> [last jobs] -> drain
 *     -> web, doors, objects, store closed
 *
 * A signal before it is ready aborts the start.
 *
 * @throws StartError if it cannot start.
 */
export async function serve(
  config: Config,
  version: string,
  ways: ServeWays = {},
): Promise<number> {
  sizeHeap()
  const { env = {}, notes = [] } = ways
  const sockets = readInheritedSockets(env, process.pid, socketNames)
  refuseClosedDoors(sockets, config)
  const warnings = [...notes, ...(await checkOpenNetwork(config, sockets))]
  const openPort = openInherited(sockets, (flag, { host, port }) => {
    const said = [checkOpenSocket(config, flag, host), unusedPort(config, flag, port)]
    for (const warning of said) {
      if (warning !== undefined && !warnings.includes(warning)) warnings.push(warning)
    }
  })
  const voice = chooseVoice(config.logFormat, process.stdout.isTTY)
  const { log, written } = ways.log
    ? { log: ways.log, written: () => Promise.resolve() }
    : await createLogger(config.logLevel, voice)
  const settings: Settings = { config, tls: readPortTls(config) }
  const signals = new StopSignals(log)
  const hangUps = ways.reread && new HangUps((reason) => signals.ask(reason, false))
  const stateSignal = new StateSignal(log, version)
  const closers: Closers = []
  const abort = new AbortController()
  let opened: RunningGateway | undefined
  let hasStarted: (gateway: RunningGateway) => void = () => undefined
  const started = new Promise<RunningGateway>((resolve) => (hasStarted = resolve))
  const reloader =
    ways.reread &&
    new Reloader({
      settings,
      log,
      reread: ways.reread,
      handedOver: sockets,
      apply: async (next) => (await started).configure(next),
    })
  const run = async () => {
    try {
      const opening: Opening = {
        ...settings,
        version,
        voice,
        log,
        ways,
        openPort,
        ...(reloader && { reload: reloader.reload }),
        web: sockets.has(flagOf('webPort')) ? { openPort } : {},
        shutdown: (graceful) => signals.ask('shutdown', graceful),
        fail: (reason) => signals.fail(reason),
        signal: abort.signal,
      }
      const starting = openGateway(opening, closers)
      const gateway = await Promise.race([starting, signals.first, signals.graceful])
      if ('reason' in gateway) {
        log.info(`Stopping (${gateway.reason}) before the start is complete.`)
        abort.abort()
        await Promise.race([starting.catch(() => undefined), delay(storeEndMs)])
        return gateway.exitCode
      }
      opened = gateway
      hasStarted(gateway)
      stateSignal.started(gateway)
      const { doors, store } = gateway
      for (const warning of warnings) log.warn(warning)
      const hasPassword = Boolean(config.faktoryPassword)
      const ready = ways.ready ?? announce
      ready({ version, doors, store, voice, log, hasPassword })
      notify(env, log, ['--ready', `--status=Ready: ${doors.map(({ name }) => name).join(', ')}`])
      if (reloader) hangUps?.reloadWith(reloader.reload)
      const { reason, exitCode } = await endReason(signals, gateway, log)
      notify(env, log, ['STOPPING=1', `--status=Stopping (${reason})`])
      await drain(gateway, config.drainSeconds, reason, log)
      return exitCode
    } catch (error) {
      if (!(error instanceof StartError)) log.debug({ err: error }, 'Error details.')
      throw error
    } finally {
      hangUps?.stop()
      await closeAll(closers, log)
      if (opened) log.info('Stopped.')
      await written()
      stateSignal.stop()
    }
  }
  const running = run()
  const interrupted = signals.second.then(async () => {
    running.catch(() => undefined)
    await Promise.race([closers[0]?.close(), delay(storeEndMs)])
    return interruptedCode
  })
  return await Promise.race([running, interrupted])
}

/**
 * Clients of a socket that no door serves would wait for ever.
 *
 * @throws StartError (code 2)
 */
function refuseClosedDoors(sockets: InheritedSockets, config: Config): void {
  for (const option of portNames) {
    const flag = flagOf(option)
    if (config[option] !== 'off' || !sockets.has(flag)) continue
    throw new StartError(
      `A socket was handed over for ${flag}, which is off: give it a port, or disable the unit of the socket.`,
      2,
    )
  }
}

/** A port that somebody chose, and that its socket does not have. */
function unusedPort(config: Config, flag: string, bound: number): string | undefined {
  const option = portNames.find((name) => flagOf(name) === flag)
  if (option === undefined) return undefined
  const chosen = config[option]
  if (chosen === bound || chosen === optionRow(option).fallback) return undefined
  return `${flag} ${chosen} has no effect: its socket was handed over, and listens on port ${bound}.`
}

/** The reason of the end, once there is one; a graceful end waits for the last jobs. */
async function endReason(
  signals: StopSignals,
  gateway: RunningGateway,
  log: Logger,
): Promise<StopReason> {
  const asked = await Promise.race([signals.first, signals.graceful])
  if (!asked.graceful) return asked
  log.info(`Stopping (${asked.reason}) once no job is left for the connected workers.`)
  gateway.stopAccepting()
  const left = new AbortController()
  const last = lastJob(gateway, left.signal).then(() => asked)
  return await Promise.race([last, signals.first]).finally(() => left.abort())
}

/** Settles when two checks in a row find no job: then the last replies have left. */
async function lastJob(gateway: RunningGateway, signal: AbortSignal): Promise<void> {
  for (let none = 0; none < 2 && !signal.aborted;) {
    const left = await gateway.unfinished().catch(() => 1)
    none = left === 0 ? none + 1 : 0
    await delay(lookAgainMs)
  }
}

/**
 * Garbage until the next full collection, percent of what the last one left. V8 would choose by how fast objects are made, and
 * does not count the bytes of buffers: with long payloads it collects for every few jobs.
 */
const heapGrowthPercent = 200

/** Sizes the heap for payloads. A foreground job of 60 KB takes 0.65 times the processor time, one of 10 KB 0.8 to 1.1 times. */
function sizeHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`)
}

const stdout = 1

/** SIGHUP reads the settings again. Where it says that the terminal is gone, the gateway ends. */
class HangUps {
  readonly #end: (reason: string) => void
  readonly #hadTerminal = isatty(stdout)
  #reload: Reload | undefined
  #cameEarly = false

  /** `end`: called when the terminal is gone. */
  constructor(end: (reason: string) => void) {
    this.#end = end
    process.on('SIGHUP', this.#onSignal)
  }

  /** The gateway runs. A signal that came before counts now. */
  reloadWith(reload: Reload): void {
    this.#reload = reload
    if (this.#cameEarly) this.#onSignal()
  }

  stop(): void {
    process.off('SIGHUP', this.#onSignal)
  }

  readonly #onSignal = (): void => {
    if (this.#hadTerminal && !isatty(stdout)) this.#end('SIGHUP')
    else if (!this.#reload) this.#cameEarly = true
    // The log has the error.
    else this.#reload('SIGHUP').catch(() => undefined)
  }
}
