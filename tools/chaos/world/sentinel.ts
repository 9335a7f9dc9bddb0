import { setTimeout as delay } from 'node:timers/promises'
import { RedisSentinel } from '@crossgear/tools/redis-sentinel'
import { waitFor } from '@crossgear/tools/wait-for'
import { durableWords, type StoreWorld } from './redis.ts'

/** Time for clients of the old master to give it up, milliseconds. */
const givenUpAfterMs = 12_000
/** A master without replicas must not acknowledge anything. */
const replicatedWords = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '5']

/** A master, two replicas (one stays when the other is promoted), and three Sentinels. */
export async function openSentinelWorld(): Promise<StoreWorld> {
  const words = [...durableWords('always'), ...replicatedWords]
  const sentinel = await RedisSentinel.start({ replicas: 2, words })
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
        await waitFor('the old master is a replica', async () =>
          (await before.ask('ROLE')).startsWith('slave'),
        )
      }
    },
  }
}
