import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config/load-config.ts'
import { announce, type Announcement, type OpenDoor } from '../log/banner.ts'
import { chooseVoice, createLogger, type Logger } from '../log/logger.ts'
import { checkDurability } from '../stores/check-durability.ts'
import { openStore } from '../stores/open-store.ts'
import { Metrics } from '../web/metrics.ts'
import { createWebServer } from '../web/web-server.ts'
import { compose, type Composition } from './compose.ts'
import { readDoorTls } from './door-tls.ts'
import { refuseOpenFaktory } from './open-faktory.ts'
import { oneLine, StartError } from './start-error.ts'
import { StopSignals, type SignalTable, type StopReason } from './stop-signals.ts'

/** A shell's code for a program that was interrupted. */
const INTERRUPTED = 130
/** How long an impatient stop waits for the store to end. */
const STORE_END_MS = 2000
/** How often a graceful end looks for jobs that are left. */
const LOOK_AGAIN_MS = 100

/** What was opened, to be closed in the reverse order. */
type Closers = { readonly what: string; readonly close: () => Promise<void> }[]

/** What a command may do in its own way. Defaults at the end of each line. */
export interface ServeWays {
  /** What the configuration says. */
  readonly log?: Logger
  /** TERM, INT and HUP end the gateway. */
  readonly signals?: SignalTable
  /** Folders where a program for the private store is looked for. PATH. */
  readonly searchPath?: string
  /** What the Gearman text command `verbose` answers. ERROR. */
  readonly verbosity?: string
  /** Every door is open. The banner. */
  readonly ready?: (announcement: Announcement) => void
}

/**
 * Runs the gateway until it is told to stop, and returns the exit code:
 *
 *     TLS files -> store -> objects -> doors -> web -> ready -> (signal) -> [last jobs] -> drain
 *     -> web, doors, objects, store closed
 *
 * @throws StartError if it cannot start.
 */
export async function serve(
  config: Config,
  version: string,
  ways: ServeWays = {},
): Promise<number> {
  await refuseOpenFaktory(config)
  const voice = chooseVoice(config.logFormat, process.stdout.isTTY)
  const log = ways.log ?? createLogger(config.logLevel, voice)
  const signals = new StopSignals(log, ways.signals)
  const closers: Closers = []
  const run = async () => {
    try {
      const { composition, doors, store } = await open(
        { config, version, log, ways, signals },
        closers,
      )
      const hasPassword = Boolean(config.faktoryPassword)
      const ready = ways.ready ?? announce
      ready({ version, doors, store, voice, log, hasPassword })
      const { reason, exitCode } = await told(signals, composition, log)
      await drain(composition, config.drainSeconds, reason, log)
      return exitCode
    } catch (error) {
      if (!(error instanceof StartError)) log.debug({ err: error }, 'Where it came from.')
      throw error
    } finally {
      await closeAll(closers, log)
    }
  }
  const running = run()
  const interrupted = signals.second.then(async () => {
    running.catch(() => undefined)
    await Promise.race([closers[0]?.close(), delay(STORE_END_MS)])
    return INTERRUPTED
  })
  return await Promise.race([running, interrupted])
}

interface Opening {
  readonly config: Config
  readonly version: string
  readonly log: Logger
  readonly ways: ServeWays
  readonly signals: StopSignals
}

async function open({ config, version, log, ways, signals }: Opening, closers: Closers) {
  const tls = readDoorTls(config)
  const store = await openStore(config, log, ways.searchPath)
  closers.push({ what: 'store', close: () => store.close() })
  await checkDurability(config.durability, store, log)
  const metrics = new Metrics()
  const composition = await compose({
    ...{ config, version, tls, store, metrics, log },
    shutdown: (graceful) => signals.ask('shutdown', graceful),
    ...(ways.verbosity !== undefined && { verbosity: ways.verbosity }),
  })
  closers.push({ what: 'scheduler', close: () => composition.close() })
  metrics.countJobsWith(() => composition.counts())

  const doors: OpenDoor[] = []
  for (const door of composition.doors) {
    closers.push({ what: door.name, close: () => door.close() })
    doors.push({ name: door.name, ...(await door.listen()) })
  }
  if (config.webPort !== 'off') {
    const web = createWebServer({
      metrics,
      check: () => composition.check(),
      log,
      pages: composition.pages,
    })
    closers.push({ what: 'web', close: () => web.close() })
    doors.push({
      name: 'web',
      ...(await web.listen({ host: config.host, port: config.webPort })),
    })
  }
  return { store, composition, doors }
}

/** Why the gateway is to end, once it is told to; a graceful end waits for the last jobs. */
async function told(
  signals: StopSignals,
  composition: Composition,
  log: Logger,
): Promise<StopReason> {
  const asked = await Promise.race([signals.first, signals.graceful])
  if (!asked.graceful) return asked
  log.info(`Stopping (${asked.reason}) when no job is left for the workers that are connected.`)
  for (const door of composition.doors) door.stopAccepting()
  const left = new AbortController()
  const last = lastJob(composition, left.signal).then(() => asked)
  return await Promise.race([last, signals.first]).finally(() => left.abort())
}

/** Settles when there is no job left twice in a row: what was said last has left then. */
async function lastJob(composition: Composition, signal: AbortSignal): Promise<void> {
  for (let none = 0; none < 2 && !signal.aborted;) {
    const left = await composition.unfinished().catch(() => 1)
    none = left === 0 ? none + 1 : 0
    await delay(LOOK_AGAIN_MS)
  }
}

async function drain(
  composition: Composition,
  seconds: number,
  reason: string,
  log: Logger,
): Promise<void> {
  log.info(`Stopping (${reason}): running jobs have ${seconds} s to end.`)
  composition.drain()
  for (const door of composition.doors) door.drain()
  const timer = new AbortController()
  await Promise.race([
    composition.idle(),
    delay(seconds * 1000, undefined, { signal: timer.signal }).then(
      () => log.warn('Jobs still run; other workers will get them.'),
      () => undefined,
    ),
  ])
  timer.abort()
}

async function closeAll(closers: Closers, log: Logger): Promise<void> {
  for (const { what, close } of closers.toReversed()) {
    try {
      await close()
    } catch (error) {
      log.error(`The ${what} did not close: ${oneLine(error)}`)
      log.debug({ err: error }, 'Where it came from.')
    }
  }
  log.info('Stopped.')
}
