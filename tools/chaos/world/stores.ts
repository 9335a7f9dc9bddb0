import { buildLossyDisk } from '@crossgear/tools/lossy-disk'
import { buildSteppingClock } from '@crossgear/tools/stepping-clock'
import type { ServerShape } from '@crossgear/tools/redis-server'
import type { Scenario } from '../scenarios/scenario.ts'
import { openClusterWorld } from './cluster.ts'
import { RedisNode, type StoreWorld } from './redis.ts'
import { openSentinelWorld } from './sentinel.ts'

export interface Servers {
  readonly store: StoreWorld
  /** The single server; empty for a cluster and for Sentinels. */
  readonly servers: readonly RedisNode[]
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
  const server = await RedisNode.start(folder, fsync, redisWords, shape)
  const store: StoreWorld = {
    gatewayUrl: server.url,
    native: { kind: 'server', url: server.url },
    connect: () => server.connect(),
    stop: () => server.process.kill(),
  }
  return { store, servers: [server] }
}
