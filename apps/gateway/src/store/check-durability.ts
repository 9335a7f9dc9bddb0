import { locateServer, ProbeError, StoreProbe } from '@crossgear/redis-store'
import { readDurability } from '../config/value-kinds.ts'
import { oneLine, StartError, StoreAway } from '../errors.ts'
import type { Logger } from '../config/log/logger.ts'
import { isAway, nameServer } from './given-store.ts'
import type { OpenStore } from './open-store.ts'

const timeoutMs = 5000

/**
 * Checks that the store can confirm the chosen `--durability`.
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
  if (durability.level === 'auto' && !('sentinels' in store.address)) return
  const flag = `--durability ${wanted}`
  if (store.kind === 'embedded') {
    throw new StartError(
      `${flag} needs a store that outlives the gateway, and the embedded one is only in memory: give a --redis-url.`,
      2,
    )
  }
  if ('nodes' in store.address) {
    throw new StartError(
      `${flag} is not for a Redis Cluster: use --durability store, with "appendfsync always" or "min-replicas-to-write" on its servers.`,
      2,
    )
  }
  let connection: StoreProbe | undefined
  try {
    connection = await StoreProbe.open(await locateServer(store.address, timeoutMs), timeoutMs)
    if (durability.level === 'fsync') await checkFsync(connection, flag, log)
    else if (durability.level === 'auto') await checkQuestions(connection)
    else await checkReplicas(connection, flag, durability.replicas, log)
  } catch (error) {
    if (error instanceof StartError) throw error
    const Failure = isAway(error) ? StoreAway : StartError
    const message = `The gateway could not check whether ${flag} works: ${oneLine(error)}.`
    throw new Failure(message, 1, { cause: error })
  } finally {
    connection?.end()
  }
}

/** Throws where the user of the store may not ask for its replicas: each job would be refused. */
async function checkQuestions(connection: StoreProbe): Promise<void> {
  await connection.command('WAIT', '0', '1')
  await connection.command('ROLE')
}

async function checkReplicas(
  connection: StoreProbe,
  flag: string,
  wanted: number,
  log: Logger,
): Promise<void> {
  const found = Number(await connection.command('WAIT', '0', '1'))
  if (found >= wanted) return
  log.warn(`${flag}: the store has ${found} replicas now. Jobs are refused until it has enough.`)
}

/** Written to see when it is on disk; expires if the gateway dies first. */
const probeKey = 'xg:disk'
const probeSeconds = 10
/** Test writes, one after the other. */
const probes = 3
/**
 * With a flush every second, the second write, made after the first is on disk, takes at least this
 * long.
 */
const soonestMs = 900
/** Longest time for a write to reach the disk. */
const onDiskMs = 2_000

/**
 * Checks that the server confirms writes only when they are on disk: some servers with
 * `appendfsync everysec` answer WAITAOF at once.
 *
 * @throws StartError, and whatever the connection throws
 */
export async function checkFsync(connection: StoreProbe, flag: string, log: Logger): Promise<void> {
  await askDisk(connection, flag)
  const policy = await policyOf(connection)
  if (policy === 'always') return
  if (policy === 'no') {
    log.warn(
      `${flag}: the store never syncs its disk ("appendfsync no"). Jobs are refused until it is "everysec" or "always".`,
    )
    return
  }
  if (!(await confirmsTooEarly(connection))) return
  const server = await nameServer(connection)
  if (policy === undefined) {
    log.warn(
      `${flag}: ${server} confirms writes to its disk at once. That is only right with "appendfsync always", and the server does not reveal its setting.`,
    )
    return
  }
  throw new StartError(
    `${flag} needs a store that waits for its disk, and ${server} with "appendfsync ${policy}" answers before the disk has anything: use "appendfsync always" on it, or another version (docs/operate/durability.md names some).`,
    1,
  )
}

async function askDisk(connection: StoreProbe, flag: string): Promise<void> {
  try {
    await connection.command('WAITAOF', '1', '0', '1')
  } catch (error) {
    if (!ProbeError.is(error, 'REPLY')) throw error
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
        `${flag} needs an append-only file, and the store has none: set "appendonly yes" on it.`,
        1,
        { cause: error },
      )
    }
    throw error
  }
}

/** Undefined if the server does not tell, as with hosted ones. */
async function policyOf(connection: StoreProbe): Promise<string | undefined> {
  try {
    const reply = await connection.command('CONFIG', 'GET', 'appendfsync')
    return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : undefined
  } catch (error) {
    if (ProbeError.is(error, 'REPLY')) return undefined
    throw error
  }
}

async function confirmsTooEarly(connection: StoreProbe): Promise<boolean> {
  const startedMs = performance.now()
  try {
    for (let at = 0; at < probes; at += 1) {
      await connection.command('SET', probeKey, String(at), 'EX', String(probeSeconds))
      const reply = await connection.command('WAITAOF', '1', '0', String(onDiskMs))
      const onDisk: unknown = Array.isArray(reply) ? reply[0] : undefined
      if (onDisk !== 1 || performance.now() - startedMs >= soonestMs) return false
    }
    return true
  } catch (error) {
    // A server that takes no writes now says nothing about its disk.
    if (ProbeError.is(error, 'REPLY')) return false
    throw error
  }
}
