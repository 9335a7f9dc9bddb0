import { RedisServer, type ServerShape } from '@crossgear/tools/redis-server'
import type { Cluster, Redis } from 'ioredis'
import type { StoreWay } from '../peers/tasks.ts'

/** How an AOF reaches the disk. */
export type Fsync = 'always' | 'everysec'

/** Options of a server that has its data again after its end. */
export function durableWords(fsync: Fsync): string[] {
  return ['--appendonly', 'yes', '--appendfsync', fsync, '--save', '']
}

/** A server with an append-only file, which it has again after its end; its files stay in the folder. */
export function durableServer(
  folder: string,
  fsync: Fsync,
  words: readonly string[],
  shape: ServerShape,
): Promise<RedisServer> {
  return RedisServer.startAs({ ...shape, keptIn: folder }, ...durableWords(fsync), ...words)
}

/** A connection for the run's own questions, which waits for a server that is away. */
export function connectionTo(server: RedisServer): Redis {
  const retryStrategy = (attempt: number): number => Math.min(10 * attempt, 200)
  return server.connect({ retryStrategy, maxRetriesPerRequest: null })
}

/** The store of a scenario. */
export interface StoreWorld {
  /** The gateway's option and its value. */
  readonly gatewayUrl: string
  readonly native: StoreWay
  /** Connects to the current master. */
  connect(): Redis | Cluster
  stop(): Promise<void>
  /**
   * Promotes a replica. Settles when done; the returned function brings the old master back, and
   * settles when that is a replica.
   */
  failover?(): Promise<() => Promise<void>>
  /**
   * Has a replica promoted beside a healthy master, as an operator does. Settles when done; the returned function settles
   * when the old master is a replica, until when it takes writes that will be lost.
   */
  switchOver?(): Promise<() => Promise<void>>
}
