import { oneLine, StartError, systemCode } from '../errors.ts'
import type { Logger } from '../ops/log/logger.ts'
import { nameServer, readInfo, waitUntilLoaded } from './readiness.ts'
import { locateServer } from './locate-server.ts'
import { RespConnection, StoreTimeout } from './resp-connection.ts'
import { isRefusedLogin, RespError, RespProtocolError } from './resp-reply.ts'
import { printStoreAddress, type StoreAddress } from './store-address.ts'

const TIMEOUT_MS = 5000

/**
 * Makes sure that a Redis answers at the address and takes the login. Returns what the server calls
 * itself.
 */
export async function checkGivenStore(
  address: StoreAddress,
  log: Logger,
  signal?: AbortSignal,
): Promise<string> {
  let connection: RespConnection | undefined
  try {
    connection = await RespConnection.open(await locateServer(address, TIMEOUT_MS), TIMEOUT_MS)
    await waitUntilLoaded(connection, log, signal)
    if ('nodes' in address) await checkCluster(connection)
    await checkVersion(connection)
    await warnOfEviction(connection, log)
    return await nameServer(connection)
  } catch (error) {
    throw new StartError(explain(error, printStoreAddress(address)), 1, { cause: error })
  } finally {
    connection?.end()
  }
}

/** Redis 6 lacks commands that the gateway's scripts use. Every Valkey says 7 at least. */
const OLDEST_MAJOR = 7

class UnfitStore extends Error {}

async function checkVersion(connection: RespConnection): Promise<void> {
  const version = (await readInfo(connection, 'server')).get('redis_version')
  if (version === undefined || Number.parseInt(version, 10) >= OLDEST_MAJOR) return
  throw new UnfitStore(`is Redis ${version}: Redis ${OLDEST_MAJOR} or Valkey is needed`)
}

/** A full server that evicts would drop jobs instead of refusing them. */
async function warnOfEviction(connection: RespConnection, log: Logger): Promise<void> {
  const memory = await readInfo(connection, 'memory')
  const policy = memory.get('maxmemory_policy') ?? 'noeviction'
  if (policy === 'noeviction' || (memory.get('maxmemory') ?? '0') === '0') return
  log.warn(
    `The store's maxmemory-policy is ${policy}: when it is full it drops jobs. Set it to noeviction.`,
  )
}

async function checkCluster(connection: RespConnection): Promise<void> {
  const info = String(await connection.command('CLUSTER', 'INFO'))
  if (info.includes('cluster_state:ok')) return
  throw new UnfitStore('is a cluster that does not serve all slots: see CLUSTER INFO')
}

function explain(error: unknown, url: string): string {
  if (error instanceof RespError) {
    const said = `The store at ${url} answers "${error.message}"`
    if (isRefusedLogin(error)) {
      return `${said}: put the right user and password into --redis-url.`
    }
    return `${said}: correct --redis-url.`
  }
  if (error instanceof UnfitStore) return `The store at ${url} ${error.message}.`
  if (error instanceof RespProtocolError) {
    return `No Redis speaks at ${url} (${error.message}): correct --redis-url.`
  }
  const reason = error instanceof StoreTimeout ? error.message : systemCode(error) || oneLine(error)
  return `The store at ${url} cannot be reached (${reason}): start it or correct --redis-url.`
}
