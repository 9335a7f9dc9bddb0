import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type StoreAddress, StoreProbe } from '@crossgear/redis-store'
import type { Config } from '../config/load-config.ts'
import { parseStoreUrl, printStoreAddress } from '../config/store-address.ts'
import { oneLine, StartError } from '../errors.ts'
import type { Logger } from '../config/log/logger.ts'
import { loopback } from '../doors/net/addresses.ts'
import { embeddedServer } from './embedded-server.ts'
import { attachOrStart, attachTo, type FolderStore } from './folder-store.ts'
import { checkGivenStore, type StoreOption, waitUntilLoaded } from './given-store.ts'
import { KeptStore } from './keep-running.ts'
import { findStoreProgram } from './private-server.ts'
import { dataName, StoreFolder } from './store-folder.ts'

/** The store of a gateway, or of a command. */
export interface OpenStore {
  /** Address for the gateway. A restart of the store keeps it. */
  readonly address: StoreAddress
  readonly kind: 'redis-url' | 'private' | 'embedded'
  /** For a person: the server, and the place of its data. */
  readonly describe: string
  /** URL for native GearMonkey programs; shows a given store's password as `***`. */
  readonly nativeUrl: string
  /** Stops only the servers started for this gateway. */
  close(): Promise<void>
}

type StoreConfig = Pick<Config, 'redisUrl' | 'dataDir' | 'storePort'>

/**
 * Opens a gateway's store, which has loaded its data then: the given one, the running one of the folder, a private
 * server if one is on PATH, or the embedded one. An abort ends the waiting.
 *
 * @throws StartError
 */
export async function openStore(
  config: StoreConfig,
  log: Logger,
  pathVariable: string | undefined = process.env['PATH'],
  signal?: AbortSignal,
): Promise<OpenStore> {
  const { redisUrl, dataDir, storePort } = config
  if (redisUrl !== undefined) return await openGiven(redisUrl, log, '--redis-url', signal)
  const program = (await findStoreProgram(pathVariable, log)) ?? embeddedServer
  const folder = await StoreFolder.open(dataDir, log)
  const first = await attachOrStart({ program, folder, port: storePort }, log, signal)
  const { port, kind } = first
  if (first.attached) {
    const at = port === 0 ? '' : ` (port ${port})`
    log.info(`Attached to the running store of ${folder.path}${at}.`)
    const isAnother = port === 0 || (storePort !== 'auto' && storePort !== port)
    if (storePort !== 'off' && isAnother) {
      log.warn(`--store-port ${storePort} has no effect: the store is already running.`)
    }
  }
  await finishLoading(first, folder, log, signal)
  if (kind === 'embedded') warnOfMemory(first, dataDir, log)
  // An empty store in memory must not take the place of a server that has files.
  const isSameKind = kind === 'embedded' || program.kind === 'private'
  const again = { program: isSameKind ? program : undefined, folder, port: port || 'off' } as const
  const kept = new KeptStore(first, () => attachOrStart(again, log), log)
  return { ...describe(first, folder), close: () => kept.stop() }
}

/** How a command uses a store, and the option that names another one. */
export interface CommandUse {
  readonly writes: boolean
  readonly option: StoreOption
}

/**
 * Opens the store for a command: the given one, the running one of the folder, or a private server on the existing
 * folder. Never one that ends with the command; a command that only reads creates nothing.
 *
 * @throws StartError
 */
export async function openStoreForCommand(
  { redisUrl, dataDir }: StoreConfig,
  { writes, option }: CommandUse,
  log: Logger,
  pathVariable: string | undefined = process.env['PATH'],
): Promise<OpenStore> {
  if (redisUrl !== undefined) return await openGiven(redisUrl, log, option)
  const { exists, hasData, isForeign, folder: found } = await StoreFolder.find(dataDir)
  const running = found && (await attachTo(found, log))
  if (running) return await commandStore(running, found, log)
  const advice = `start the gateway, name its folder with --data-dir, or give a ${option}`
  if (!exists) throw new StartError(`There is no folder ${dataDir}: ${advice}.`, 1)
  if (!hasData && !writes) {
    throw new StartError(`No store runs in ${dataDir}, and it has no jobs of one: ${advice}.`, 1)
  }
  if (isForeign) {
    throw new StartError(
      `No store runs in ${dataDir}, which belongs to another user: start the gateway, or run this as that user.`,
      1,
    )
  }
  const program = await findStoreProgram(pathVariable, log)
  if (!program) {
    throw new StartError(
      `No store runs in ${dataDir}, and no redis-server or valkey-server is on PATH to open it: ${advice}.`,
      1,
    )
  }
  const folder = await StoreFolder.open(dataDir, log)
  return await commandStore(await attachOrStart({ program, folder, port: 'off' }, log), folder, log)
}

async function commandStore(
  store: FolderStore,
  folder: StoreFolder,
  log: Logger,
): Promise<OpenStore> {
  await finishLoading(store, folder, log)
  return { ...describe(store, folder), close: () => store.stop() }
}

async function openGiven(
  url: string,
  log: Logger,
  option: StoreOption,
  signal?: AbortSignal,
): Promise<OpenStore> {
  const address = parseStoreUrl(url)
  if (!address) {
    throw new StartError(`${option} is not the URL of a store: see crossgear --help.`, 2)
  }
  const server = await checkGivenStore(address, log, { option, signal })
  return {
    address,
    kind: 'redis-url',
    describe: server,
    nativeUrl: printStoreAddress(address),
    close: () => Promise.resolve(),
  }
}

function describe(
  { address, kind, server, port }: FolderStore,
  { path, password, socketPath }: StoreFolder,
): Omit<OpenStore, 'close'> {
  const words = {
    private: `private ${server}, data in ${path}`,
    embedded: `embedded ${server}, in memory: jobs do not outlive this gateway`,
  }
  const nativeUrl =
    port === 0 && socketPath !== undefined
      ? `unix://${encodeURI(socketPath)}?password=${password}`
      : `redis://default:${password}@${loopback}:${port}`
  return { address, kind, describe: words[kind], nativeUrl }
}

function warnOfMemory({ attached }: FolderStore, dataDir: string, log: Logger): void {
  if (attached) {
    log.warn(
      'The store is in the memory of another gateway: jobs do not outlive that one. Install redis-server or valkey-server, or give a --redis-url.',
    )
    return
  }
  const unread = existsSync(join(dataDir, dataName)) ? ` The jobs in ${dataDir} are not read.` : ''
  log.warn(
    `No redis-server or valkey-server is on PATH: jobs are kept in memory and do not outlive this gateway.${unread} Install one, or give a --redis-url.`,
  )
}

const loadingTimeoutMs = 5000

async function finishLoading(
  store: FolderStore,
  folder: StoreFolder,
  log: Logger,
  signal?: AbortSignal,
): Promise<void> {
  let connection: StoreProbe | undefined
  try {
    connection = await StoreProbe.open(store.address, loadingTimeoutMs)
    await waitUntilLoaded(connection, log, signal)
  } catch (error) {
    if (signal?.aborted) await store.stop()
    const lastWords = (await folder.lastWords()) || oneLine(error)
    throw new StartError(
      `The store ended while it read its data (${lastWords}): see ${folder.logPath}.`,
      1,
      { cause: error },
    )
  } finally {
    connection?.end()
  }
}
