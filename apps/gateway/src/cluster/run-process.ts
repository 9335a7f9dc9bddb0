import { oneLine, StartError } from '../errors.ts'
import { LogFile } from '../gearmand/log-file.ts'
import { createLogger, type Logger } from '../ops/log/logger.ts'
import { json, type PageRequest } from '../ops/page.ts'
import { compose, type Composition } from '../server/compose.ts'
import { openDoors } from '../server/open.ts'
import { closeAll, type Closers, drain, endable, onFaults } from '../server/shutdown.ts'
import { HandedPorts } from './handed-ports.ts'
import type { LogTarget, Orders, PlainRequest, Task } from './messages.ts'
import { ParentLink } from './parent-link.ts'
import { configOf } from './plain-config.ts'
import { bodyOf } from './shared-pages.ts'

/** These reach all processes of a terminal or service: only the parent acts on them. */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const
const toldToEnd = 'told to end'

/** Works as one of several processes until its parent ends it or dies. */
export async function runProcess(): Promise<number> {
  for (const signal of signals) process.on(signal, () => undefined)
  let start: (task: Task) => void = () => undefined
  let end: (why: string) => void = () => undefined
  const started = new Promise<Task>((resolve) => (start = resolve))
  const ended = new Promise<string>((resolve) => (end = resolve))
  const ports = new HandedPorts((message) => link.send(message))
  const link = new ParentLink({
    start: (task) => start(task),
    connection: (connection, socket) => ports.take(connection, socket),
    end: (isOrphan) => end(isOrphan ? 'its parent process has died' : toldToEnd),
  })
  const task = await Promise.race([started, ended])
  if (typeof task === 'string') return 0
  const alive = (): void => link.send({ what: 'alive' })
  alive()
  setInterval(alive, task.aliveEveryMs).unref()
  const { log, reopen } = await openLog(task.log, task.number)
  onFaults(log, (reason) => end(reason))
  const closers: Closers = []
  try {
    const composition = await open(task, { log, link, ports, closers, fail: end })
    link.obeyWith(orders(composition, log, reopen))
    const names = composition.doors.map(({ name }) => name)
    link.send({ what: 'prepared', names, portRequests: ports.portRequests })
    const why = await ended
    if (why === toldToEnd) return 0
    ports.shutAll()
    await drain(endable(composition), task.config.drainSeconds, why, log)
    return 1
  } catch (error) {
    if (!(error instanceof StartError)) log.debug({ err: error }, 'Error details.')
    const exitCode = error instanceof StartError ? error.exitCode : 1
    await link.sendLast({ what: 'failed', message: oneLine(error), exitCode })
    return exitCode
  } finally {
    await closeAll(closers, log)
  }
}

interface OpeningProcess {
  readonly log: Logger
  readonly link: ParentLink
  readonly ports: HandedPorts
  readonly closers: Closers
  /** The process cannot go on. */
  readonly fail: (reason: string) => void
}

async function open(task: Task, { log, link, ports, closers, fail }: OpeningProcess) {
  const { version, tls, store, verbosity, pid } = task
  const composition = await compose({
    ...{ version, tls, log, fail },
    config: configOf(task.config),
    // The parent opened it and closes it.
    store: { ...store, close: () => Promise.resolve() },
    shutdown: (graceful) => link.send({ what: 'shutdown', graceful }),
    ...(verbosity !== undefined && { verbosity }),
    shared: { pid, openPort: ports.open, peerProcesses: link },
  })
  closers.push({ what: 'scheduler', close: () => composition.close() })
  await openDoors(composition, closers)
  log.info({ node: composition.node, pid: process.pid }, `Process ${task.number} is ready.`)
  return composition
}

/** Requests that the parent may make. */
function orders(composition: Composition, log: Logger, reopen: () => void): Orders {
  const gateway = endable(composition)
  return {
    figures: () => composition.figures.node(),
    storeScrape: () => composition.figures.store(),
    gearmanScrape: () => composition.figures.gearman(),
    faktoryScrape: () => composition.figures.faktory(),
    readiness: () => composition.check(),
    api: (name, input) => composition.api.call(name, input),
    page: async (path, request) => {
      const page = composition.pages[path]
      return page ? await page(pageRequest(request)) : json(404, { error: 'no such page' })
    },
    unfinished: () => gateway.unfinished(),
    stopAccepting: () => gateway.stopAccepting(),
    drain: () => gateway.drain(),
    idle: () => gateway.idle(),
    reopenLog: reopen,
    configure: ({ config, tls }) => {
      log.level = config.logLevel
      composition.configure({ config: configOf(config), tls })
    },
  }
}

function pageRequest(request: PlainRequest): PageRequest {
  const { method, url, contentType, remoteAddress } = request
  return {
    ...{ method, url },
    headers: { 'content-type': contentType },
    socket: { remoteAddress },
    [Symbol.asyncIterator]: () => bodyOf(request),
  }
}

/** The log, with the process's number in its lines, and the function that reopens it. */
async function openLog(
  target: LogTarget,
  number: number,
): Promise<{ log: Logger; reopen: () => void }> {
  if (target.kind === 'stdout') {
    const log = await createLogger(target.level, target.voice)
    return { log: log.child({ process: number }), reopen: () => undefined }
  }
  const file = new LogFile(target.path, `proc ${number}`)
  return { log: file.logger(target.level), reopen: () => file.reopen() }
}
