import { setTimeout as delay } from 'node:timers/promises'
import { ProbeError, type ServerAddress } from '@crossgear/redis-store'
import type { Config } from '../config/load-config.ts'
import { oneLine, StartError, systemCode } from '../errors.ts'
import type { Logger } from '../config/log/logger.ts'
import { folderFailure } from './folder-failure.ts'
import { isAlive, withLock } from './folder-lock.ts'
import type { RunningStore } from './keep-running.ts'
import type { ServerProcess, StoreProgram } from './server-process.ts'
import type { StoreFolder, StoreKind, StoreRecord } from './store-folder.ts'
import { StoreKeeper } from './store-keeper.ts'
import { chooseStorePort } from './store-port.ts'

const lookAgainMs = 20
/** From the start of the process to its first answer. */
const answersWithinMs = 20_000
/** If the recorded process does not listen by then, it is another program. */
const listensWithinMs = 2000
/** Another program may take the port between check and start. */
const portAttempts = 3

export interface FolderStoreSettings {
  /** Started where no store runs. Undefined: none may be. */
  readonly program: StoreProgram | undefined
  readonly folder: StoreFolder
  readonly port: Config['storePort']
}

/** A running store of a folder. */
export interface FolderStore extends RunningStore {
  readonly kind: StoreKind
  /** Another process started it. */
  readonly attached: boolean
}

/** The keeper of a running server, and its process if this one started it. */
interface Held {
  readonly keeper: StoreKeeper
  readonly port: number
  readonly kind: StoreKind
  readonly process?: ServerProcess
}

/**
 * The store of a folder: the running one, or a new one. A private one has the folder's data and ends with its last
 * user, an embedded one ends with the gateway that started it. An abort ends the wait for another gateway.
 */
export async function attachOrStart(
  settings: FolderStoreSettings,
  log: Logger,
  signal?: AbortSignal,
): Promise<FolderStore> {
  const { folder } = settings
  const waits = (): void =>
    log.debug('Another gateway is starting or stopping the store: waiting for it.')
  try {
    const held = await withLock(
      folder.lockPath,
      async () => (await attach(folder)) ?? (await start(settings)),
      { signal, waits },
    )
    return storeOf(folder, held, log)
  } catch (error) {
    throw signal?.aborted ? error : folderFailure(folder.path, error)
  }
}

/**
 * The running store of a folder, for a command; undefined if none runs. Takes no lock, since it must leave no file: a
 * gateway that stops in the same moment may end the store all the same.
 */
export async function attachTo(folder: StoreFolder, log: Logger): Promise<FolderStore | undefined> {
  const held = await attach(folder)
  return held && storeOf(folder, held, log)
}

/** The address of the running store of a folder, if one runs. Throws a StartError. */
export async function addressOfRunning(folder: StoreFolder): Promise<ServerAddress | undefined> {
  const held = await attach(folder)
  await held?.keeper.leave()
  return held && folder.address(held.port)
}

function storeOf(folder: StoreFolder, held: Held, log: Logger): FolderStore {
  const { keeper, port, kind } = held
  return {
    address: folder.address(port),
    port,
    kind,
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

async function attach(folder: StoreFolder): Promise<Held | undefined> {
  const record = await folder.readRecord()
  if (!record) return undefined
  const { port, kind } = record
  for (let waitedMs = 0; ; waitedMs += lookAgainMs) {
    try {
      const keeper = await StoreKeeper.connect(folder, record)
      return keeper && { keeper, port, kind }
    } catch (error) {
      refuseUnfit(folder, record, error)
      const mayComeUp = ['ECONNREFUSED', 'ENOENT'].includes(systemCode(error))
      if (!mayComeUp || !isAlive(record.pid) || waitedMs >= listensWithinMs) return undefined
    }
    await delay(lookAgainMs)
  }
}

/** Throws where the recorded store runs and cannot be used. */
function refuseUnfit(folder: StoreFolder, record: StoreRecord, cause: unknown): void {
  const store = `The store of ${folder.path} (process ${record.pid})`
  if (ProbeError.is(cause, 'TIMEOUT')) {
    throw new StartError(
      `${store} runs but does not answer: end it (kill -9 ${record.pid}), then start again.`,
      1,
      { cause },
    )
  }
  if (!(cause instanceof ProbeError && cause.isRefusedLogin)) return
  // Without a socket, another store may have taken the port.
  if (folder.socketPath === undefined && !folder.hasOtherPassword(record)) return
  throw new StartError(
    `${store} runs with another password than store.password there holds: end it (kill ${record.pid}), then start again.`,
    1,
    { cause },
  )
}

async function start({ program, folder, port: wantedPort }: FolderStoreSettings): Promise<Held> {
  if (!program) {
    throw new StartError(
      `The store of ${folder.path} does not run, and no redis-server or valkey-server is on PATH.`,
      1,
    )
  }
  const { kind, name } = program
  for (let attempt = 1; ; attempt++) {
    const port = await chooseStorePort(wantedPort, folder.socketPath !== undefined)
    const server = await program.spawn(folder, port).catch((error: unknown) => {
      throw new StartError(
        `${name} cannot be run (${oneLine(error)}): repair it or give a --redis-url.`,
        1,
        { cause: error },
      )
    })
    await note(folder, server, { port, kind, pid: server.pid })
    const keeper = await firstAnswer(program, folder, server, { port, kind })
    if (keeper) return { keeper, port, kind, process: server }
    await folder.removeRecord()
    const lastWords = await server.lastWords()
    const portTaken = /Address already in use|Failed listening on port/i.test(lastWords)
    const isOfChoice = wantedPort === 'auto' || wantedPort === 'off'
    if (!portTaken || !isOfChoice || attempt === portAttempts) {
      const reason = lastWords || (await server.exited)
      throw new StartError(`${name} did not start (${reason}): ${program.advice(folder)}.`, 1)
    }
  }
}

/** A server that nobody would find is ended again. */
async function note(
  folder: StoreFolder,
  server: ServerProcess,
  record: Pick<StoreRecord, 'port' | 'pid' | 'kind'>,
): Promise<void> {
  try {
    await folder.writeRecord(record)
  } catch (error) {
    server.kill()
    await server.exited
    await folder.removeRecord()
    throw error
  }
}

/** Undefined if the process ended first. */
async function firstAnswer(
  program: StoreProgram,
  folder: StoreFolder,
  server: ServerProcess,
  record: Pick<StoreRecord, 'port' | 'kind'>,
): Promise<StoreKeeper | undefined> {
  const untilMs = performance.now() + answersWithinMs
  while (performance.now() < untilMs) {
    if (server.hasExited()) return undefined
    // A busy machine is no fault of the server: any failure to answer may pass.
    const keeper = await StoreKeeper.connect(folder, record).catch(() => undefined)
    if (keeper) return keeper
    await delay(lookAgainMs)
  }
  // A private server may still read its data; an embedded one has none.
  if (program.kind === 'embedded') server.kill()
  throw new StartError(
    `The store that was started (process ${server.pid}) does not answer: ${program.advice(folder)}.`,
    1,
  )
}

async function endOrLeave(folder: StoreFolder, held: Held, log: Logger): Promise<void> {
  const { keeper, kind, process: server } = held
  try {
    if (kind === 'embedded' && server) {
      server.kill()
      await server.exited
      await folder.removeRecord()
      return
    }
    if (kind === 'embedded' || (await keeper.isShared())) {
      await keeper.leave()
      log.info('The store keeps running: another gateway uses it.')
      return
    }
    if (await keeper.shutDown()) {
      await server?.exited
      await folder.removeRecord()
      return
    }
    log.warn(`The store did not end and keeps running. See ${folder.logPath}.`)
  } catch (error) {
    log.warn(`The store is left as it is: ${oneLine(error)}.`)
  }
  keeper.connection.end()
}
