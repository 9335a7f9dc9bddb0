import type { Cluster, Redis } from 'ioredis'

/**
 * Connects, or fails with the first attempt. ioredis's `connect` never settles for a reachable
 * Cluster that does not serve all slots, as in a failover, and while no Sentinel answers.
 */
export function connectOnce(connection: Redis | Cluster): Promise<void> {
  if ('sentinels' in connection.options && connection.options.sentinels) {
    return connectBySentinels(connection)
  }
  if (!connection.isCluster) return connection.connect()
  return new Promise((resolve, reject) => {
    // ioredis's own reason, if it has one, comes first.
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
