import { Redis, type RedisOptions } from 'ioredis'

/** Where a Redis or Valkey server is. `path` is a Unix socket and wins over host and port. */
export interface StoreAddress {
  readonly host?: string
  readonly port?: number
  readonly path?: string
  readonly username?: string
  readonly password?: string
  readonly db?: number
  readonly tls?: boolean
}

/** A server that does not answer within this time counts as unreachable, milliseconds. */
export const answerWithinMs = 5_000
/** The longest pause between two attempts to connect, milliseconds. */
const longestPauseMs = 1_000

/**
 * Options of a connection that tells at once when the server cannot be reached: nothing is queued
 * for later, and nothing is sent twice.
 */
export function connectionOptions(
  address: StoreAddress,
  name: string,
  withinMs = answerWithinMs,
): Omit<RedisOptions, 'replyMapping'> {
  return {
    ...(address.path === undefined
      ? { host: address.host ?? '127.0.0.1', port: address.port ?? 6379 }
      : { path: address.path }),
    ...(address.username === undefined ? {} : { username: address.username }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(address.tls ? { tls: {} } : {}),
    db: address.db ?? 0,
    connectionName: name,
    protocol: 2,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: withinMs,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), longestPauseMs),
  }
}

/** The connection for commands: an answer that takes too long ends it. */
export function commandConnection(
  address: StoreAddress,
  node: string,
  withinMs = answerWithinMs,
): Redis {
  return new Redis({
    ...connectionOptions(address, `crossgear:${node}`, withinMs),
    socketTimeout: withinMs,
    commandTimeout: withinMs,
  })
}

/** The connection that listens. Silence is no fault of it. */
export function eventConnection(
  address: StoreAddress,
  node: string,
  withinMs = answerWithinMs,
): Redis {
  return new Redis({
    ...connectionOptions(address, `crossgear:${node}:events`, withinMs),
    commandTimeout: withinMs,
  })
}
