import { readDurability } from '../config/durability-level.ts'
import { oneLine, StartError } from '../errors.ts'
import type { Logger } from '../ops/log/logger.ts'
import { checkFsync } from './check-fsync.ts'
import { locateServer } from './locate-server.ts'
import type { OpenStore } from './open-store.ts'
import { RespConnection } from './resp-connection.ts'

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
    if (durability.level === 'fsync') await checkFsync(connection, flag, log)
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
