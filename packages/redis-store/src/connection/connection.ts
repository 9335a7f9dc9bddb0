import { Cluster, Redis } from 'ioredis'
import {
  connectOnce,
  isClusterAddress,
  longestPauseMs,
  loginOf,
  pause,
  placeOf,
  type Options,
  type ServerAddress,
  type StoreAddress,
} from '@crossgear/gearmonkey-redis/address'
import { storeErrorOf } from './errors.ts'

/** A connection to a server, to a master found by Sentinels, or to a cluster. */
export type Connection = Redis | Cluster

/** A server without an answer for this long counts as unreachable, milliseconds. */
export const answerWithinMs = 5_000
/** How often a cluster's slot table is read, milliseconds. */
const slotsEveryMs = 2_000

/**
 * Options of a connection that fails at once when the server cannot be reached: nothing is queued,
 * and nothing is sent twice.
 */
function connectionOptions(address: StoreAddress, name: string, withinMs: number): Options {
  return {
    ...loginOf(address),
    connectionName: name,
    protocol: 2,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: withinMs,
    commandTimeout: withinMs,
    maxLoadingRetryTime: longestPauseMs,
    retryStrategy: pause,
    ...placeOf(address),
  }
}

/** The connection for commands: an answer that takes too long ends it. */
export function commandConnection(
  address: StoreAddress,
  node: string,
  withinMs = answerWithinMs,
): Connection {
  const options = connectionOptions(address, `crossgear:${node}`, withinMs)
  const redisOptions = { ...options, socketTimeout: withinMs }
  if (!isClusterAddress(address)) return new Redis(redisOptions)
  const cluster = new Cluster([...address.nodes], {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: pause,
    slotsRefreshTimeout: withinMs,
    slotsRefreshInterval: slotsEveryMs,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    redisOptions: withoutPlace(redisOptions),
  })
  // Connects to the servers early: commands sent while connecting would fail, and the first job
  // must not.
  const warm = (server: Redis): void => {
    if (server.status === 'wait') server.connect().catch(() => undefined)
  }
  cluster.on('ready', () => cluster.nodes().forEach(warm))
  // Before that, the check whether the cluster is ready would fail.
  cluster.on('+node', (server: Redis) => {
    answeredAsking(server)
    if (cluster.status === 'ready') warm(server)
  })
  return cluster
}

/** ioredis drops the answer to the ASKING of a moving slot: where its server dies, that would be an unhandled rejection. */
function answeredAsking(server: Redis): void {
  const asking = server.asking.bind(server)
  server.asking = () => asking().catch(() => 'OK')
}

/** Without the options that a cluster sets for its servers itself. */
function withoutPlace(options: Options): Options {
  const each = { ...options }
  delete each.lazyConnect
  delete each.enableOfflineQueue
  delete each.retryStrategy
  return each
}

/** Connects; in a cluster to every server with slots. */
export async function connect(connection: Connection): Promise<void> {
  await connectOnce(connection)
  if (!('nodes' in connection)) return
  await Promise.all(connection.nodes('master').map(answers))
}

/** Throws where the server does not answer. One that cannot write its files refuses even PING, and can be read. */
async function answers(server: Pick<Redis, 'ping'>): Promise<void> {
  try {
    await server.ping()
  } catch (error) {
    if (!storeErrorOf(error).message.startsWith('MISCONF')) throw error
  }
}

/**
 * The connection for events; it may be silent. In a cluster any server has all messages: when one is gone, the next is
 * tried. Its user resubscribes: where ioredis does, a lost connection is an uncaught error.
 */
export function eventConnection(
  address: StoreAddress,
  node: string,
  withinMs = answerWithinMs,
): Redis {
  const name = `crossgear:${node}:events`
  const options = { autoResubscribe: false }
  if (!isClusterAddress(address)) {
    return new Redis({ ...connectionOptions(address, name, withinMs), ...options })
  }
  const { nodes, ...login } = address
  const first: ServerAddress = { ...login, ...nodes[0] }
  const redis = new Redis({
    ...connectionOptions(first, name, withinMs),
    ...options,
    retryStrategy: (attempt) => {
      Object.assign(redis.options, nodes[attempt % nodes.length])
      return pause(attempt)
    },
  })
  return redis
}

/** A connection to a server with another system's data. */
export type ServerConnection = Redis

/** Connects. Throws a StoreError if the server cannot be reached. */
export async function openServer(address: ServerAddress, name: string): Promise<ServerConnection> {
  const connection = commandConnection(address, name)
  // The error that ended the connection says more than the call that met its end: a wrong password, for one.
  let cause: unknown
  connection.on('error', (error: unknown) => (cause = error))
  try {
    await connect(connection)
    await answers(connection)
  } catch (error) {
    connection.disconnect()
    throw storeErrorOf(cause ?? error)
  }
  return connection as Redis
}
