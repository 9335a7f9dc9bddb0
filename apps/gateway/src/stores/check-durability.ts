import { readDurability } from '../config/durability-level.ts'
import { oneLine, StartError } from '../lifecycle/start-error.ts'
import type { Logger } from '../log/logger.ts'
import { locateServer } from './locate-server.ts'
import type { OpenStore } from './open-store.ts'
import { nameServer } from './readiness.ts'
import { RespConnection } from './resp-connection.ts'
import { RespError } from './resp-reply.ts'

const TIMEOUT_MS = 5000

/**
 * Makes sure that the store can confirm what `--durability` asks for.
 *
 * @throws StartError
 */
export async function checkDurability(
  wanted: string,
  store: Pick<OpenStore, 'address' | 'kind'>,
  log: Logger,
): Promise<void> {
  const durability = readDurability(wanted)
  if (!durability || durability.level === 'store') return
  const flag = `--durability ${wanted}`
  if (store.kind === 'embedded') {
    throw new StartError(
      `${flag} needs a store that outlives the gateway, and the embedded one is in memory alone: give a --redis-url.`,
      2,
    )
  }
  if ('nodes' in store.address) {
    throw new StartError(
      `${flag} is not for a Redis Cluster: use --durability store, with "appendfsync always" or "min-replicas-to-write" on its servers.`,
      2,
    )
  }
  let connection: RespConnection | undefined
  try {
    connection = await RespConnection.open(
      await locateServer(store.address, TIMEOUT_MS),
      TIMEOUT_MS,
    )
    if (durability.level === 'fsync') await checkFsync(connection, flag)
    else await checkReplicas(connection, flag, durability.replicas, log)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`The store does not say whether ${flag} works: ${oneLine(error)}.`, 1, {
      cause: error,
    })
  } finally {
    connection?.end()
  }
}

async function checkFsync(connection: RespConnection, flag: string): Promise<void> {
  try {
    await connection.command('WAITAOF', '1', '0', '1')
  } catch (error) {
    if (!(error instanceof RespError)) throw error
    if (/unknown command/i.test(error.message)) {
      const server = await nameServer(connection)
      throw new StartError(
        `${flag} needs Redis 7.2 or Valkey, and the store is ${server}: use a newer server, or "appendfsync always" on this one with --durability store.`,
        1,
        { cause: error },
      )
    }
    if (/appendonly/i.test(error.message)) {
      throw new StartError(
        `${flag} needs an append-only file, and the store keeps none: set "appendonly yes" on it.`,
        1,
        { cause: error },
      )
    }
    throw error
  }
}

async function checkReplicas(
  connection: RespConnection,
  flag: string,
  wanted: number,
  log: Logger,
): Promise<void> {
  const found = Number(await connection.command('WAIT', '0', '1'))
  if (found >= wanted) return
  log.warn(`${flag}: the store has ${found} replicas now. Jobs are refused until it has enough.`)
}
