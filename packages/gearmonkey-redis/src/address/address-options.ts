import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { AbstractConnector, type RedisOptions } from 'ioredis'
import { isClusterAddress, type SentinelAddress, type StoreAddress } from './store-address.ts'

/** ioredis's options for connections to a store. */
export type Options = Omit<RedisOptions, 'replyMapping'>

/** A stream that does not end by itself is destroyed after so long, milliseconds. */
const disconnectWithinMs = 2_000

/** Longest pause between two attempts to connect, milliseconds. */
export const longestPauseMs = 1_000

/** The pause before an attempt to connect, milliseconds. */
export const pause = (attempt: number): number =>
  Math.min(50 * 2 ** Math.min(attempt, 10), longestPauseMs)

/** Login options of a connection. */
export function loginOf({ username, password, tls }: StoreAddress): Options {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
  }
}

/** Inside a process nothing is late, and nobody is spared by a pause. */
const atOnce: Options = { retryStrategy: () => 0, commandTimeout: undefined }

/** Target of a connection, and its times where they are its own; empty for a cluster, which sets it for each of its servers. */
export function placeOf(address: StoreAddress): Options {
  if (isClusterAddress(address)) return {}
  if ('sentinels' in address) return bySentinels(address)
  const { connect, path, host = '127.0.0.1', port = 6379, db = 0 } = address
  if (connect) return { Connector: connectorOf(connect), db, ...atOnce }
  return path === undefined ? { host, port, db } : { path, db }
}

/** ioredis makes one connector for each client. */
function connectorOf(connect: () => Duplex): new () => AbstractConnector {
  return class extends AbstractConnector {
    constructor() {
      super(disconnectWithinMs)
    }

    override connect(): Promise<Socket> {
      this.stream = connect() as Socket
      return Promise.resolve(this.stream)
    }
  }
}

function bySentinels(address: SentinelAddress): Options {
  const { sentinels, name, db = 0, tls, sentinelUsername, sentinelPassword } = address
  return {
    sentinels: [...sentinels],
    name,
    db,
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    // Null would end the connection for good: ioredis asks each Sentinel once and then gives up.
    sentinelRetryStrategy: pause,
    // A master that became a replica: the Sentinels know the new one.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  }
}
