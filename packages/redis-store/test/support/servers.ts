import { patientCluster, RedisCluster } from '@crossgear/tools/redis-cluster'
import { RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { StoreAddress } from '../../src/index.ts'
import { RedisWorld } from './redis-world.ts'

/** Servers of a store. */
export interface Servers {
  readonly address: StoreAddress
  readonly all: readonly RedisServer[]
  readonly stop: () => Promise<void>
}

export const oneServer = (): Promise<Servers> => serverOf('redis-server')

export async function serverOf(program: 'redis-server' | 'valkey-server'): Promise<Servers> {
  const server = await RedisServer.startAs({ program })
  return { address: { path: server.path }, all: [server], stop: () => server.stop() }
}

export async function aCluster(): Promise<Servers> {
  const cluster = await RedisCluster.start({ words: patientCluster })
  const nodes = cluster.masters.map(({ port }) => ({ host: '127.0.0.1', port }))
  return { address: { nodes }, all: cluster.masters, stop: () => cluster.stop() }
}

/**
 * Starts servers for a suite. Each of its tests begins with an empty world on them, and leaves nothing wrong in it unless it
 * `mayBreak`.
 */
export function eachInNewWorld(
  start: () => Promise<Servers>,
  begin: (world: RedisWorld, servers: Servers) => unknown,
  { mayBreak = false } = {},
): void {
  let servers: Servers
  let world: RedisWorld
  beforeAll(async () => {
    servers = await start()
  })
  afterAll(() => servers.stop())
  beforeEach(async () => {
    world = await RedisWorld.open(servers.address)
    await begin(world, servers)
  })
  afterEach(async () => {
    if (!mayBreak) expect(await world.violations()).toEqual([])
    await world.close()
  })
}
