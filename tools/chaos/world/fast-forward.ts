import type { Cluster, Redis } from 'ioredis'
import { StoreKeys } from '@crossgear/redis-store'
import { FaktoryConnection } from '@crossgear/peers'

/**
 * Time passes for leases that have a deadline: they expire now, where their workers died with
 * half an hour left. Returns how many.
 */
export async function expireLeases(
  redis: Redis | Cluster,
  lanes: readonly string[],
  keys = new StoreKeys(redis.isCluster),
): Promise<number> {
  let many = 0
  for (const lane of lanes) {
    const ids = await redis.zrangebyscore(keys.busy(lane), '(1', 8e15)
    for (const id of ids) many += await redis.zadd(keys.busy(lane), 'XX', 'CH', 1, id)
  }
  return many
}

/** Retries do not wait for their time, as an operator can have it. */
export async function retryNow(faktoryPort: number): Promise<void> {
  const link = await FaktoryConnection.open({ port: faktoryPort })
  await link.ask('MUTATE', { cmd: 'requeue', target: 'retries', filter: {} })
  link.close()
}
