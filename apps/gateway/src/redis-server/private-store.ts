import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config/load-config.ts'
import { oneLine, StartError, systemCode } from '../errors.ts'
import type { Logger } from '../ops/log/logger.ts'
import type { StoreProgram } from './find-server.ts'
import { chooseStorePort } from './free-port.ts'
import { spawnServer, type ServerProcess } from './private-server.ts'
import { StoreTimeout } from './resp-connection.ts'
import { isRefusedLogin, RespError } from './resp-reply.ts'
import type { RunningStore } from './running-store.ts'
import { isAlive, withLock } from './start-lock.ts'
import type { StoreFolder, StoreRecord } from './store-folder.ts'
import { StoreKeeper } from './store-keeper.ts'

const LOOK_AGAIN_MS = 20
/** From the start of the process to its first answer. */
const ANSWERS_WITHIN_MS = 20_000
/** A process of the recorded number that does not listen by then is another program. */
const LISTENS_WITHIN_MS = 2000
/** Somebody may take the port between the look and the start. */
const PORT_ATTEMPTS = 3

export interface PrivateStoreSettings {
  readonly program: StoreProgram
  readonly folder: StoreFolder
  readonly port: Config['storePort']
}

/** The keeper of a running server, the port that the server listens on, and its process if we started it. */
interface Held {
  readonly keeper: StoreKeeper
  readonly port: number
  readonly process?: ServerProcess
}

/**
 * The store of a folder: the one that runs there already, or else a new one on the folder's data.
 * The store ends with the last gateway that uses it. An abort ends the wait for another gateway.
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
  const waits = (): void => log.debug('Another gateway starts or stops the store: waiting for it.')
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
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    try {
      const keeper = await StoreKeeper.connect(folder, record.port)
      return keeper && { keeper, port: record.port }
    } catch (error) {
      if (error instanceof StoreTimeout) {
        const process = `process ${record.pid}`
        throw new StartError(
          `The store of ${folder.path} (${process}) runs but does not answer: end it (kill -9 ${record.pid}), then start again.`,
          1,
          { cause: error },
        )
      }
      if (error instanceof RespError && isRefusedLogin(error)) {
        // Without a socket, another store may have taken the port.
        if (folder.socketPath === undefined && !folder.hasOtherPassword(record)) return undefined
        throw new StartError(
          `The store of ${folder.path} (process ${record.pid}) runs with another password than store.password there holds: end it (kill ${record.pid}), then start again.`,
          1,
          { cause: error },
        )
      }
      const mayComeUp = ['ECONNREFUSED', 'ENOENT'].includes(systemCode(error))
      if (!mayComeUp || !isAlive(record.pid) || waitedMs >= LISTENS_WITHIN_MS) return undefined
    }
    await delay(LOOK_AGAIN_MS)
  }
}

async function start({ program, folder, port: wish }: PrivateStoreSettings): Promise<Held> {
  for (let attempt = 1; ; attempt++) {
    const port = await chooseStorePort(wish)
    const server = await spawnServer(program.path, folder, port).catch((error: unknown) => {
      throw new StartError(
        `${program.path} cannot be run (${oneLine(error)}): repair it or give a --redis-url.`,
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
    if (!portTaken || wish !== 'auto' || attempt === PORT_ATTEMPTS) {
      throw new StartError(
        `${program.path} did not start (${lastWords || (await server.exited)}): see ${folder.logPath}, or give a --redis-url.`,
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
  for (let waitedMs = 0; waitedMs < ANSWERS_WITHIN_MS; waitedMs += LOOK_AGAIN_MS) {
    if (server.hasExited()) return undefined
    try {
      const keeper = await StoreKeeper.connect(folder, port)
      if (keeper) return keeper
    } catch (error) {
      if (error instanceof StoreTimeout) break
    }
    await delay(LOOK_AGAIN_MS)
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
      log.info('The store runs on: another gateway uses it.')
      return
    }
    if (await keeper.shutDown()) {
      await held.process?.exited
      await folder.removeRecord()
      return
    }
    log.warn(`The store did not end; it runs on. See ${folder.logPath}.`)
  } catch (error) {
    log.warn(`The store is left as it is: ${oneLine(error)}.`)
  }
  keeper.connection.end()
}
