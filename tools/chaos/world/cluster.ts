import { RedisCluster } from '@crossgear/tools/redis-cluster'
import { waitFor } from '@crossgear/tools/wait-for'
import { StoreKeys } from '@crossgear/redis-store'
import { probeLane } from './probe.ts'
import { durableWords, type StoreWorld } from './redis.ts'

/** A busy machine is not to pass for servers that are gone. */
const patienceWords = ['--cluster-node-timeout', '4000']

/** Three masters, each with a replica. */
export async function openClusterWorld(): Promise<StoreWorld> {
  const words = [...durableWords('always'), ...patienceWords]
  const cluster = await RedisCluster.start({ replicas: 1, words })
  return {
    gatewayUrl: cluster.url,
    native: { kind: 'cluster', ports: cluster.servers.map(({ port }) => port) },
    connect: () => cluster.connect(),
    stop: () => cluster.stop(),
    async failover() {
      // The shard by which it is seen whether the gateways serve.
      const before = await cluster.masterOf(new StoreKeys(true).busy(probeLane))
      const heir = cluster.replicas[cluster.masters.indexOf(before)]!
      await before.kill()
      await waitFor('the replica is the master', async () =>
        (await heir.ask('ROLE')).startsWith('master'),
      )
      return async () => {
        await before.start()
        await waitFor('the old master is a replica', async () =>
          (await before.ask('ROLE')).startsWith('slave'),
        )
      }
    },
  }
}
