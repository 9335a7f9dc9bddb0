import type { Scenario } from '../scenarios/scenario.ts'
import { openSentinelWorld } from './sentinel.ts'
import { RedisNode, type StoreWorld } from './redis.ts'

/** Starts the servers that a scenario wants. */
export async function openStoreWorld(
  scenario: Scenario,
  folder: string,
): Promise<{ readonly store: StoreWorld; readonly servers: readonly RedisNode[] }> {
  if (scenario.store === 'sentinel') return { store: await openSentinelWorld(), servers: [] }
  const server = await RedisNode.start(folder, scenario.fsync ?? 'always', scenario.redisWords)
  const store: StoreWorld = {
    gatewayUrl: server.url,
    native: { kind: 'server', url: server.url },
    connect: () => server.connect(),
    stop: () => server.process.kill(),
  }
  return { store, servers: [server] }
}
