import type { Cluster, Redis } from 'ioredis'

/**
 * Connects, or fails with the first attempt. Of a Cluster that can be reached and does not serve all
 * slots, as in a failover, and where no Sentinel answers, ioredis tries again and never settles what
 * `connect` returned.
 */
export function connectOnce(connection: Redis | Cluster): Promise<void> {
  if ('sentinels' in connection.options && connection.options.sentinels) {
    return connectBySentinels(connection)
  }
  if (!connection.isCluster) return connection.connect()
  return new Promise((resolve, reject) => {
    // Where ioredis knows what was wrong, its word comes first.
    const closed = (): void =>
      queueMicrotask(() => reject(new Error('the cluster does not serve all slots')))
    connection.once('close', closed)
    connection
      .connect()
      .then(resolve, reject)
      .finally(() => connection.off('close', closed))
  })
}

function connectBySentinels(connection: Redis | Cluster): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => {
      reject(error)
      connection.disconnect()
    }
    connection.once('error', failed)
    connection
      .connect()
      .then(resolve, reject)
      .finally(() => connection.off('error', failed))
  })
}
