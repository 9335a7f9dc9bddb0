import { buildLossyDisk, buildSteppingClock } from '@crossgear/tools/preload-library'
import type { RedisServer, ServerShape } from '@crossgear/tools/redis-server'
import type { Scenario } from '../scenarios/scenario.ts'
import { connectionTo, durableServer, durableWords, type StoreWorld } from './redis.ts'
import { RedisCluster } from '@crossgear/tools/redis-cluster'
import { waitFor } from '@crossgear/tools/wait-for'
import { StoreKeys } from '@crossgear/redis-store'
import { probeLane } from './probe.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { RedisSentinel } from '@crossgear/tools/redis-sentinel'

export interface Servers {
  readonly store: StoreWorld
  /** The single server; empty for a cluster and for Sentinels. */
  readonly servers: readonly RedisServer[]
}

const worlds = { sentinel: openSentinelWorld, cluster: openClusterWorld } as const

/** Starts the servers that a scenario wants. */
export async function openStoreWorld(scenario: Scenario, folder: string): Promise<Servers> {
  if (scenario.store) return { store: await worlds[scenario.store](), servers: [] }
  const { fsync = 'always', redisWords, server: program, forgets, clockSteps } = scenario
  const shape: ServerShape = {
    ...(program && { program }),
    ...(forgets && { preload: buildLossyDisk(folder) }),
    ...(clockSteps && { preload: buildSteppingClock(folder) }),
  }
  const server = await durableServer(folder, fsync, redisWords ?? [], shape)
  const store: StoreWorld = {
    gatewayUrl: server.url,
    native: { kind: 'server', url: server.url },
    connect: () => connectionTo(server),
    stop: () => server.stop(),
  }
  return { store, servers: [server] }
}

/** A busy machine is not to pass for servers that are gone. */
const patienceWords = ['--cluster-node-timeout', '4000']

/** Three masters, each with a replica. */
async function openClusterWorld(): Promise<StoreWorld> {
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
      await waitFor('the replica is the master', async () => (await heir.role()) === 'master')
      return async () => {
        await before.start()
        await isReplica(before)
      }
    },
  }
}

async function isReplica(before: RedisServer): Promise<void> {
  await waitFor('the old master is a replica', async () => (await before.role()) === 'slave')
}

/** Time for clients of the old master to give it up, milliseconds. */
const givenUpAfterMs = 12_000
/** A master without replicas must not acknowledge anything. */
const replicatedWords = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '5']

/** A master, two replicas (one stays when the other is promoted), and three Sentinels. */
async function openSentinelWorld(): Promise<StoreWorld> {
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
        await isReplica(before)
      }
    },
    async switchOver() {
      const before = await sentinel.master()
      await sentinel.failover()
      return () => isReplica(before)
    },
  }
}
