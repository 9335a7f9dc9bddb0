import { Cluster, Redis } from 'ioredis'
import type { StoreWay } from './tasks.ts'

const host = '127.0.0.1'
/** A server silent for this long is given up, milliseconds. */
const silentForMs = 6_000
const retryStrategy = (attempt: number): number => Math.min(50 * attempt, 500)

/** A connection for programs that know only Redis. Commands fail while the server is away. */
export function storeConnection(way: StoreWay): Redis | Cluster {
  const redis = open(way)
  redis.on('error', () => undefined)
  return redis
}

function open(way: StoreWay): Redis | Cluster {
  const common = { retryStrategy, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false }
  switch (way.kind) {
    case 'server':
      return new Redis(way.url, { ...common, socketTimeout: silentForMs })
    case 'sentinel':
      return new Redis({
        ...common,
        sentinels: way.ports.map((port) => ({ host, port })),
        name: way.master,
        sentinelRetryStrategy: retryStrategy,
        sentinelCommandTimeout: 1_000,
        socketTimeout: silentForMs,
      })
    case 'cluster':
      return new Cluster(
        way.ports.map((port) => ({ host, port })),
        {
          clusterRetryStrategy: retryStrategy,
          redisOptions: { socketTimeout: silentForMs },
          slotsRefreshTimeout: 2_000,
        },
      )
  }
}
