import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config/load-config.ts'
import { announce, type OpenDoor } from '../log/banner.ts'
import { chooseVoice, createLogger, type Logger } from '../log/logger.ts'
import { openStore } from '../stores/open-store.ts'
import { Metrics } from '../web/metrics.ts'
import { createWebServer } from '../web/web-server.ts'
import { compose, type Composition } from './compose.ts'
import { oneLine, StartError } from './start-error.ts'
import { StopSignals } from './stop-signals.ts'

/** A shell's code for a program that was interrupted. */
const INTERRUPTED = 130
/** How long an impatient stop waits for the store to end. */
const STORE_END_MS = 2000

/** What was opened, to be closed in the reverse order. */
type Closers = { readonly what: string; readonly close: () => Promise<void> }[]

/**
 * Runs the gateway until it is told to stop, and returns the exit code:
 *
 *     store -> objects -> doors -> web -> ready -> (signal) -> drain -> web, doors, objects, store closed
 *
 * @throws StartError if it cannot start.
 */
export async function serve(config: Config, version: string): Promise<number> {
  const voice = chooseVoice(config.logFormat, process.stdout.isTTY)
  const log = createLogger(config.logLevel, voice)
  const signals = new StopSignals(log)
  const closers: Closers = []
  const run = async () => {
    try {
      const { composition, doors, store } = await open(config, log, closers)
      announce({ version, doors, store, voice, log, hasPassword: Boolean(config.faktoryPassword) })
      const { reason, exitCode } = await signals.first
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

async function open(config: Config, log: Logger, closers: Closers) {
  const store = await openStore(config, log)
  closers.push({ what: 'store', close: () => store.close() })
  const metrics = new Metrics()
  const composition = await compose({ config, store, metrics, log })
  closers.push({ what: 'scheduler', close: () => composition.close() })
  metrics.countJobsWith(() => composition.counts())

  const doors: OpenDoor[] = []
  for (const door of composition.doors) {
    closers.push({ what: door.name, close: () => door.close() })
    doors.push({ name: door.name, ...(await door.listen()) })
  }
  if (config.webPort !== 'off') {
    const web = createWebServer({ metrics, check: () => composition.check(), log })
    closers.push({ what: 'web', close: () => web.close() })
    doors.push({
      name: 'web',
      ...(await web.listen({ host: config.host, port: config.webPort })),
    })
  }
  return { store, composition, doors }
}

async function drain(
  composition: Composition,
  seconds: number,
  reason: string,
  log: Logger,
): Promise<void> {
  log.info(`Stopping (${reason}): running jobs have ${seconds} s to end.`)
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
