import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type StoreAddress, StoreProbe } from '@crossgear/redis-store'
import type { Config } from '../config/load-config.ts'
import { oneLine, StartError } from '../errors.ts'
import { loopback } from '../net/addresses.ts'
import type { Logger } from '../log/logger.ts'
import { startEmbedded } from './embedded-store.ts'
import { checkGivenStore, waitUntilLoaded } from './given-store.ts'
import { KeptStore, type RunningStore } from './keep-running.ts'
import { findStoreProgram } from './private-server.ts'
import { attachOrStart } from './private-store.ts'
import { parseStoreUrl, printStoreAddress } from '../config/store-address.ts'
import { StoreFolder } from './store-folder.ts'

/** The store of a gateway. */
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
 * Opens the store: the given one, or a private server if a program for it is on PATH, or else the
 * embedded one. It has loaded its data and answers when this returns. An abort ends the waiting.
 *
 * @throws StartError
 */
export async function openStore(
  config: StoreConfig,
  log: Logger,
  pathVariable: string | undefined = process.env['PATH'],
  signal?: AbortSignal,
): Promise<OpenStore> {
  if (config.redisUrl !== undefined) return await openGiven(config.redisUrl, log, signal)
  const program = await findStoreProgram(pathVariable, log)
  return program ? await openPrivate(config, program, log, signal) : await openEmbedded(config, log)
}

async function openGiven(url: string, log: Logger, signal?: AbortSignal): Promise<OpenStore> {
  const address = parseStoreUrl(url)
  if (!address)
    throw new StartError('--redis-url is not the URL of a store: see crossgear --help.', 2)
  const server = await checkGivenStore(address, log, signal)
  return {
    address,
    kind: 'redis-url',
    describe: server,
    nativeUrl: printStoreAddress(address),
    close: () => Promise.resolve(),
  }
}

async function openPrivate(
  config: StoreConfig,
  program: string,
  log: Logger,
  signal?: AbortSignal,
): Promise<OpenStore> {
  const folder = await StoreFolder.open(config.dataDir, log)
  const first = await attachOrStart({ program, folder, port: config.storePort }, log, signal)
  const { port } = first
  if (first.attached) {
    log.info(`Attached to the running store of ${folder.path} (port ${port}).`)
    if (config.storePort !== 'auto' && config.storePort !== port) {
      log.warn(`--store-port ${config.storePort} has no effect: the store is already running.`)
    }
  }
  try {
    await finishLoading(first, log, signal)
  } catch (error) {
    if (signal?.aborted) await first.stop()
    const lastWords = (await folder.lastWords()) || oneLine(error)
    throw new StartError(
      `The store ended while it read its data (${lastWords}): see ${folder.logPath}.`,
      1,
      { cause: error },
    )
  }
  const kept = new KeptStore(first, () => attachOrStart({ program, folder, port }, log), log)
  return {
    address: first.address,
    kind: 'private',
    describe: `private ${first.server}, data in ${folder.path}`,
    nativeUrl: loopbackUrl(port, folder.password),
    close: () => kept.stop(),
  }
}

async function openEmbedded(config: StoreConfig, log: Logger): Promise<OpenStore> {
  const { password } = await StoreFolder.open(config.dataDir, log)
  const first = await startEmbedded(config.storePort, password)
  const unread = existsSync(join(config.dataDir, 'appendonlydir'))
    ? ` The jobs in ${config.dataDir} are not read.`
    : ''
  log.warn(
    `No redis-server or valkey-server is on PATH: jobs are kept in memory and do not outlive this gateway.${unread} Install one, or give a --redis-url.`,
  )
  const kept = new KeptStore(first, () => startEmbedded(first.port, password), log)
  return {
    address: first.address,
    kind: 'embedded',
    describe: `${first.server}, in memory: jobs do not outlive this gateway`,
    nativeUrl: loopbackUrl(first.port, password),
    close: () => kept.stop(),
  }
}

const loadingTimeoutMs = 5000

async function finishLoading(
  store: RunningStore,
  log: Logger,
  signal?: AbortSignal,
): Promise<void> {
  const connection = await StoreProbe.open(store.address, loadingTimeoutMs)
  try {
    await waitUntilLoaded(connection, log, signal)
  } finally {
    connection.end()
  }
}

function loopbackUrl(port: number, password: string): string {
  return `redis://default:${password}@${loopback}:${port}`
}
