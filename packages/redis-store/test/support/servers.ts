import { patientCluster, RedisCluster } from '@crossgear/tools/redis-cluster'
import { RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { StoreAddress } from '../../src/index.ts'
import { ServerInProcess } from './in-process.ts'
import { RedisWorld, type WorldTime } from './redis-world.ts'

/** Servers of a store. */
export interface Servers {
  readonly address: StoreAddress
  readonly all: readonly RedisServer[]
  /** The time of the servers, where a test moves it. */
  readonly time?: WorldTime
  readonly stop: () => Promise<void>
}

/** Valkey, which needs no process, and whose time passes when a test says so. */
export async function inProcess(): Promise<Servers> {
  const server = await ServerInProcess.start(0.1)
  return { address: server.address, all: [], time: server, stop: async () => server.stop() }
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
