import { setTimeout as delay } from 'node:timers/promises'
import { RedisSentinel } from '@crossgear/tools/redis-sentinel'
import type { StoreWorld } from './redis.ts'

/** Until whoever was connected to the old master has given it up, milliseconds. */
const givenUpAfterMs = 12_000

/** A master, its replica and three Sentinels. */
export async function openSentinelWorld(): Promise<StoreWorld> {
  const sentinel = await RedisSentinel.start({ words: ['--appendonly', 'yes'] })
  const [, hosts = '', master = ''] = /^redis\+sentinel:\/\/(.+)\/(.+)$/.exec(sentinel.url) ?? []
  const ports = hosts.split(',').map((host) => Number(host.split(':')[1]))
  return {
    gatewayUrl: sentinel.url,
    native: { kind: 'sentinel', master, ports },
    connect: () => sentinel.connect({ maxRetriesPerRequest: null }),
    stop: () => sentinel.stop(),
    async failover() {
      const before = await sentinel.master()
      before.freeze()
      await sentinel.successorOf(before)
      return async () => {
        await delay(givenUpAfterMs)
        before.thaw()
      }
    },
  }
}
