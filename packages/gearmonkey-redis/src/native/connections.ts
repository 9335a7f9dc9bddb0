import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { loginOf, pause, placeOf } from '../address/address-options.ts'
import { connectOnce } from '../address/connect-once.ts'
import { manyHostsAddress, type ManyHostsAddress } from '../address/many-hosts.ts'
import { GearMonkeyError } from './errors.ts'

/** An ioredis connection to one server, to a master found by Sentinel, or to a Cluster. */
export type Connection = Redis | Cluster

/**
 * The server with the jobs: an ioredis instance (also one for Sentinel, or a Cluster), the path of a Unix socket, or a URL
 * (`rediss` instead of `redis` for TLS):
 *
 *     redis://[user:password@]host[:port][/db]
 *     unix:///path[?db=n&password=p]
 *     redis+sentinel://[user:password@]host[:port],.../name[?db=n]
 *     redis+cluster://[user:password@]host[:port],...
 */
export type GearMonkeyServer = string | Connection

/** A frozen server is detected after this time, milliseconds: longer than any worker's BRPOP. */
const answerWithinMs = 10_000
/** Options of all connections that the library opens. */
const common = {
  lazyConnect: true,
  enableOfflineQueue: true,
  enableAutoPipelining: false,
  disableClientInfo: true,
  stringNumbers: false,
  protocol: 2,
  replyMapping: 'legacy',
  commandTimeout: undefined,
  blockingTimeout: undefined,
  retryStrategy: pause,
} as const satisfies RedisOptions

/**
 * For a client's own commands: nothing is sent twice, since a second LPUSH would be a second job.
 * Without retries a lost connection fails its commands; with any, ioredis would drop them silently.
 */
const forClient = {
  ...common,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  socketTimeout: answerWithinMs,
} as const satisfies RedisOptions

/** For one blocking call, which has its own timeout. */
const forWaiting = { ...forClient, socketTimeout: undefined } as const satisfies RedisOptions

/** For a worker: its commands wait until the server is back. */
const forWorker = {
  ...common,
  autoResendUnfulfilledCommands: true,
  maxRetriesPerRequest: null,
  socketTimeout: answerWithinMs,
} as const satisfies RedisOptions

/** Delay before ioredis resends a command that a cluster's server left unanswered, milliseconds. */
const sendAgainAfterMs = { client: 0, waiting: 0, worker: 100 } as const // 0: never

const uses = { client: forClient, waiting: forWaiting, worker: forWorker } as const

export function isCluster(connection: Connection): connection is Cluster {
  return connection.isCluster
}

/**
 * A connection for a URL. It connects with the first command.
 * @throws GearMonkeyError BAD_ARGUMENT
 */
export function connectionTo(url: string): Connection {
  const many = severalHosts(url)
  return many ? connectionToMany(many) : connectionToOne(url)
}

/**
 * Opens a connection to a single server.
 * @throws GearMonkeyError BAD_ARGUMENT
 */
export function connectionToOne(url: string): Redis {
  if (/^rediss?:\/\//i.test(url)) return new Redis(url, forClient)
  if (url.startsWith('/')) return new Redis(url, forClient)
  if (/^unix:\/\/\//i.test(url)) {
    const [path = '', query] = url.slice('unix://'.length).split('?', 2)
    const file = decodeURIComponent(path)
    return new Redis(query === undefined ? file : `${file}?${query}`, forClient)
  }
  throw new GearMonkeyError('BAD_ARGUMENT', 'the URL starts with none of redis, rediss, unix, /')
}

function severalHosts(url: string): ManyHostsAddress | undefined {
  try {
    return manyHostsAddress(url)
  } catch (cause) {
    throw new GearMonkeyError('BAD_ARGUMENT', 'the URL has a broken percent sign', { cause })
  }
}

function connectionToMany(address: ManyHostsAddress): Connection {
  const login = loginOf(address)
  if (!('nodes' in address)) {
    // While no Sentinel answers, ioredis queues commands.
    return new Redis({
      ...login,
      ...placeOf(address),
      ...forClient,
      commandTimeout: answerWithinMs,
    })
  }
  return new Cluster([...address.nodes], {
    lazyConnect: true,
    clusterRetryStrategy: pause,
    retryDelayOnFailover: sendAgainAfterMs.client,
    redisOptions: { ...login, ...forClient },
  })
}

/**
 * A second connection to the same server, not yet connected. Errors go to `onError`; ioredis
 * reconnects by itself.
 */
export function anotherConnection(
  of: Connection,
  use: keyof typeof uses,
  onError: (error: unknown) => void = () => undefined,
): Connection {
  const options = uses[use]
  const other: Connection = isCluster(of)
    ? of.duplicate([], {
        lazyConnect: true,
        enableOfflineQueue: true,
        enableAutoPipelining: false,
        retryDelayOnFailover: sendAgainAfterMs[use],
        redisOptions: { ...of.options.redisOptions, ...options },
      })
    : of.duplicate<RedisOptions>(options)
  other.on('error', onError)
  return other
}

/** Connects, or waits for an attempt in progress. */
export async function connected(connection: Connection): Promise<void> {
  if (connection.status === 'ready') return
  if (connection.status === 'wait') await connectOnce(connection)
  else
    await new Promise<void>((resolve, reject) => {
      connection.once('ready', resolve)
      connection.once('end', () => reject(new Error('the connection is closed')))
    })
}

/** Closes a connection in any state. Unanswered commands fail. */
export function closeConnection(connection: Connection): void {
  if (connection.status === 'end') return
  // Between two attempts ioredis has no socket whose end would fail the waiting commands.
  if (connection.status === 'reconnecting') connection.connect().catch(() => undefined)
  connection.disconnect()
}
