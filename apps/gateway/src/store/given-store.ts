import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '@crossgear/core-scheduler'
import { locateServer, ProbeError, type StoreAddress, StoreProbe } from '@crossgear/redis-store'
import { oneLine, StartError, StoreAway, systemCode } from '../errors.ts'
import type { Logger } from '../config/log/logger.ts'
import { printStoreAddress } from '../config/store-address.ts'

const timeoutMs = 5000

/** The option of a gateway or command that names the store. */
export type StoreOption = '--redis-url' | '--to' | '--from'

interface CheckOptions {
  /** In the advice of an error line. `--redis-url` */
  readonly option?: StoreOption
  /** An abort ends the wait for a store that loads. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Checks that a Redis answers at the address and accepts the login. Returns its name and version.
 */
export async function checkGivenStore(
  address: StoreAddress,
  log: Logger,
  { option = '--redis-url', signal }: CheckOptions = {},
): Promise<string> {
  let connection: StoreProbe | undefined
  try {
    connection = await StoreProbe.open(await locateServer(address, timeoutMs), timeoutMs)
    await waitUntilLoaded(connection, log, signal)
    if ('nodes' in address) await checkCluster(connection)
    await checkVersion(connection)
    await warnOfEviction(connection, log)
    return await nameServer(connection)
  } catch (error) {
    throw storeFailure(error, address, option)
  } finally {
    connection?.end()
  }
}

/**
 * Checks only that a server answers and takes the login, whatever its version, settings and permissions.
 *
 * @throws StartError
 */
export async function checkAnswer(address: StoreAddress): Promise<void> {
  let connection: StoreProbe | undefined
  try {
    connection = await StoreProbe.open(await locateServer(address, timeoutMs), timeoutMs)
    await connection.command('PING')
  } catch (error) {
    if (ProbeError.is(error, 'REPLY') && ['NOPERM', 'MISCONF'].includes(error.word)) return
    throw storeFailure(error, address)
  } finally {
    connection?.end()
  }
}

/** Redis 6 lacks commands that the gateway's scripts use. Every Valkey reports at least 7. */
export const oldestMajor = 7

class UnfitStore extends Error {}
/** A cluster may serve all slots again by itself. */
class BrokenCluster extends UnfitStore {}

/** System errors of a server that may come, or of a network that is not there yet. */
const absences: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ECONNABORTED',
])
/** Refusals of a server that is there and may serve in a moment. */
const passingRefusal = /^(LOADING|MASTERDOWN|CLUSTERDOWN|BUSY)\b|max number of clients/

/** True for a store that may come by itself: waiting helps, and nothing that the user could correct. */
export function isAway(error: unknown): boolean {
  if (error instanceof StoreError) {
    const { code, message } = error
    return code === 'UNREACHABLE' || code === 'TIMEOUT' || passingRefusal.test(message)
  }
  if (ProbeError.is(error, 'REPLY')) return passingRefusal.test(error.message)
  if (ProbeError.is(error, 'TIMEOUT') || ProbeError.is(error, 'CLOSED')) return true
  return error instanceof BrokenCluster || absences.has(systemCode(error))
}

async function checkVersion(connection: StoreProbe): Promise<void> {
  const version = (await readInfo(connection, 'server')).get('redis_version')
  if (version === undefined || Number.parseInt(version, 10) >= oldestMajor) return
  throw new UnfitStore(`is Redis ${version}: Redis ${oldestMajor} or Valkey is needed`)
}

/** A full server that evicts would drop jobs instead of refusing them. */
async function warnOfEviction(connection: StoreProbe, log: Logger): Promise<void> {
  const memory = await readInfo(connection, 'memory')
  const policy = memory.get('maxmemory_policy') ?? 'noeviction'
  if (policy === 'noeviction' || (memory.get('maxmemory') ?? '0') === '0') return
  log.warn(
    `The store's maxmemory-policy is ${policy}: a full store drops jobs. Set it to noeviction.`,
  )
}

async function checkCluster(connection: StoreProbe): Promise<void> {
  const info = String(await connection.command('CLUSTER', 'INFO'))
  if (info.includes('cluster_state:ok')) return
  throw new BrokenCluster('is a cluster that does not serve all slots: see CLUSTER INFO')
}

/** The error line for a store that cannot be used. */
export function storeFailure(
  cause: unknown,
  address: StoreAddress,
  option: StoreOption = '--redis-url',
): StartError {
  const Failure = isAway(cause) ? StoreAway : StartError
  return new Failure(explain(cause, printStoreAddress(address), option), 1, { cause })
}

function explain(error: unknown, url: string, option: StoreOption): string {
  if (ProbeError.is(error, 'REPLY')) {
    const said = `The store at ${url} answers "${error.message}"`
    if (error.isRefusedLogin) return `${said}: put the right user and password into ${option}.`
    if (isAway(error)) return `${said}: wait until it serves.`
    return `${said}: correct ${option}.`
  }
  if (error instanceof UnfitStore) return `The store at ${url} ${error.message}.`
  if (ProbeError.is(error, 'PROTOCOL')) {
    return `No Redis speaks at ${url} (${error.message}): correct ${option}.`
  }
  const reason =
    ProbeError.is(error, 'TIMEOUT') || ProbeError.is(error, 'CLOSED')
      ? error.message
      : systemCode(error) || oneLine(error)
  return `The store at ${url} cannot be reached (${reason}): start it or correct ${option}.`
}

const lookAgainMs = 50

/** Waits while the server loads its data from disk, unless aborted. */
export async function waitUntilLoaded(
  connection: StoreProbe,
  log: Logger,
  signal?: AbortSignal,
): Promise<void> {
  let said = false
  for (;;) {
    try {
      await connection.command('PING')
      return
    } catch (error) {
      if (!ProbeError.is(error, 'REPLY')) throw error
      // A server that cannot write its files refuses even this: its data is there.
      if (error.word === 'MISCONF') return
      if (error.word !== 'LOADING') throw error
      if (!said) log.info('The store is loading its data; the ports open after that.')
      said = true
      await delay(lookAgainMs, undefined, { ...(signal && { signal }) })
    }
  }
}

/** The fields of `INFO <section>`; empty without the permission. */
export async function readInfo(
  connection: StoreProbe,
  section: string,
): Promise<ReadonlyMap<string, string>> {
  let text: unknown
  try {
    text = await connection.command('INFO', section)
  } catch (error) {
    if (ProbeError.is(error, 'REPLY')) return new Map()
    throw error
  }
  const lines = typeof text === 'string' ? text.split('\r\n') : []
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1)]
    }),
  )
}

/** `Redis 7.0.15`, `Valkey 8.1.1`. */
export async function nameServer(connection: StoreProbe): Promise<string> {
  const info = await readInfo(connection, 'server')
  const valkey = info.get('valkey_version')
  if (valkey !== undefined) return `Valkey ${valkey}`
  return `Redis ${info.get('redis_version') ?? '(version unknown)'}`
}
