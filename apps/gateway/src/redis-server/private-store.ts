import { open, readFile, rm, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { ProbeError } from '@crossgear/redis-store'
import type { Config } from '../config/load-config.ts'
import { oneLine, StartError, systemCode } from '../errors.ts'
import type { Logger } from '../log/logger.ts'
import type { RunningStore } from './keep-running.ts'
import { chooseStorePort, type ServerProcess, spawnServer } from './private-server.ts'
import type { StoreFolder, StoreRecord } from './store-folder.ts'
import { StoreKeeper } from './store-keeper.ts'

const lookAgainMs = 20
/** From the start of the process to its first answer. */
const answersWithinMs = 20_000
/** If the recorded process does not listen by then, it is another program. */
const listensWithinMs = 2000
/** Another program may take the port between check and start. */
const portAttempts = 3

export interface PrivateStoreSettings {
  /** Its path. */
  readonly program: string
  readonly folder: StoreFolder
  readonly port: Config['storePort']
}

/** The keeper of a running server, its port, and its process if this gateway started it. */
interface Held {
  readonly keeper: StoreKeeper
  readonly port: number
  readonly process?: ServerProcess
}

/**
 * The store of a folder: the running one, or a new one on the folder's data. It ends with its last
 * gateway. An abort ends the wait for another gateway.
 */
export async function attachOrStart(
  settings: PrivateStoreSettings,
  log: Logger,
  signal?: AbortSignal,
): Promise<RunningStore & { readonly attached: boolean }> {
  const { folder } = settings
  const attachHere = async (): Promise<Held> => {
    const record = await folder.readRecord()
    return (record && (await attach(folder, record))) ?? (await start(settings))
  }
  const waits = (): void =>
    log.debug('Another gateway is starting or stopping the store: waiting for it.')
  const held = await withLock(folder.lockPath, attachHere, { signal, waits })
  const { keeper, port } = held
  return {
    address: folder.address(port),
    port,
    server: keeper.server,
    attached: held.process === undefined,
    ended: keeper.connection.closed.then(
      async () => (await held.process?.exited) ?? 'it closed the connection',
    ),
    stop: async () => {
      await withLock(folder.lockPath, () => endOrLeave(folder, held, log))
    },
  }
}

async function attach(folder: StoreFolder, record: StoreRecord): Promise<Held | undefined> {
  for (let waitedMs = 0; ; waitedMs += lookAgainMs) {
    try {
      const keeper = await StoreKeeper.connect(folder, record.port)
      return keeper && { keeper, port: record.port }
    } catch (error) {
      if (ProbeError.is(error, 'TIMEOUT')) {
        const process = `process ${record.pid}`
        throw new StartError(
          `The store of ${folder.path} (${process}) runs but does not answer: end it (kill -9 ${record.pid}), then start again.`,
          1,
          { cause: error },
        )
      }
      if (error instanceof ProbeError && error.isRefusedLogin) {
        // Without a socket, another store may have taken the port.
        if (folder.socketPath === undefined && !folder.hasOtherPassword(record)) return undefined
        throw new StartError(
          `The store of ${folder.path} (process ${record.pid}) runs with another password than store.password there holds: end it (kill ${record.pid}), then start again.`,
          1,
          { cause: error },
        )
      }
      const mayComeUp = ['ECONNREFUSED', 'ENOENT'].includes(systemCode(error))
      if (!mayComeUp || !isAlive(record.pid) || waitedMs >= listensWithinMs) return undefined
    }
    await delay(lookAgainMs)
  }
}

async function start({ program, folder, port: wantedPort }: PrivateStoreSettings): Promise<Held> {
  for (let attempt = 1; ; attempt++) {
    const port = await chooseStorePort(wantedPort)
    const server = await spawnServer(program, folder, port).catch((error: unknown) => {
      throw new StartError(
        `${program} cannot be run (${oneLine(error)}): repair it or give a --redis-url.`,
        1,
        { cause: error },
      )
    })
    await folder.writeRecord(port, server.pid)
    const keeper = await firstAnswer(folder, port, server)
    if (keeper) return { keeper, port, process: server }
    await folder.removeRecord()
    const lastWords = await folder.lastWords()
    const portTaken = /Address already in use|Failed listening on port/.test(lastWords)
    if (!portTaken || wantedPort !== 'auto' || attempt === portAttempts) {
      throw new StartError(
        `${program} did not start (${lastWords || (await server.exited)}): see ${folder.logPath}, or give a --redis-url.`,
        1,
      )
    }
  }
}

/** Undefined if the process ended first. */
async function firstAnswer(
  folder: StoreFolder,
  port: number,
  server: ServerProcess,
): Promise<StoreKeeper | undefined> {
  for (let waitedMs = 0; waitedMs < answersWithinMs; waitedMs += lookAgainMs) {
    if (server.hasExited()) return undefined
    try {
      const keeper = await StoreKeeper.connect(folder, port)
      if (keeper) return keeper
    } catch (error) {
      if (ProbeError.is(error, 'TIMEOUT')) break
    }
    await delay(lookAgainMs)
  }
  throw new StartError(
    `The store that was started (process ${server.pid}) does not answer: see ${folder.logPath}.`,
    1,
  )
}

async function endOrLeave(folder: StoreFolder, held: Held, log: Logger): Promise<void> {
  const { keeper } = held
  try {
    if (await keeper.isShared()) {
      await keeper.leave()
      log.info('The store keeps running: another gateway uses it.')
      return
    }
    if (await keeper.shutDown()) {
      await held.process?.exited
      await folder.removeRecord()
      return
    }
    log.warn(`The store did not end and keeps running. See ${folder.logPath}.`)
  } catch (error) {
    log.warn(`The store is left as it is: ${oneLine(error)}.`)
  }
  keeper.connection.end()
}

const lockRetryMs = 25
const giveUpMs = 60_000
/** A holder writes its pid right after it made the file, or never. */
const unwrittenMs = 2000

/** Options of the wait for a lock. */
interface LockWait {
  /** An abort ends the wait. */
  readonly signal?: AbortSignal | undefined
  /** Called once, when the wait begins. */
  readonly waits?: () => void
}

/**
 * Runs `work` while no other gateway with the same lock file runs its own. The file names its
 * holder; a dead holder's lock is taken over.
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  { signal, waits = () => undefined }: LockWait = {},
): Promise<T> {
  for (let waitedMs = 0; !(await take(path)); waitedMs += lockRetryMs) {
    if (await removeStale(path)) continue
    if (waitedMs === 0) waits()
    if (waitedMs >= giveUpMs) {
      throw new StartError(
        `Another gateway holds ${path}: wait until it has started or stopped; if there is none, remove the file.`,
        1,
      )
    }
    await delay(lockRetryMs, undefined, { ...(signal && { signal }) })
  }
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}

async function take(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx')
    await file.writeFile(String(process.pid))
    await file.close()
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

async function removeStale(path: string): Promise<boolean> {
  const before = await look(path)
  if (!before) return true // released meanwhile
  if (before.pid === undefined ? before.ageMs < unwrittenMs : isAlive(before.pid)) return false
  const after = await look(path)
  if (after?.inode !== before.inode) return true // taken over by another
  await rm(path, { force: true })
  return true
}

async function look(path: string) {
  try {
    const { ino: inode, mtimeMs } = await stat(path)
    const text = await readFile(path, 'utf8')
    const pid = /^\d+$/.test(text) ? Number(text) : undefined
    return { pid, inode, ageMs: Date.now() - mtimeMs }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** True if a process with this number exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}
