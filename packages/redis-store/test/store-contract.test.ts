import { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import { storeContract } from '@crossgear/store-testkit'
import { lacksRedis, lacksValkey } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe } from 'vitest'
import { ServerInProcess } from './support/in-process.ts'
import { RedisWorld } from './support/redis-world.ts'
import { aCluster, oneServer, serverOf, type Servers } from './support/servers.ts'

type Started = Pick<Servers, 'address' | 'stop'>

const stores: readonly [string, string, string | false, () => Promise<Started>][] = [
  ['with redis-server,', 'redis-server', lacksRedis, oneServer],
  ['with valkey-server,', 'valkey-server', lacksValkey, () => serverOf('valkey-server')],
  ['with a cluster of three,', 'Redis Cluster', lacksRedis, aCluster],
]

for (const [where, name, isLacking, start] of stores) {
  describe.skipIf(isLacking)(where, () => {
    let started: Started
    beforeAll(async () => {
      started = await start()
    })
    afterAll(() => started.stop())
    storeContract(name, (options) => RedisWorld.open(started.address, options))
  })
}

describe('inside the process,', () => {
  let server: ServerInProcess
  beforeAll(async () => {
    server = await ServerInProcess.start(0.1)
  })
  storeContract('Valkey as WebAssembly', (options) => {
    server.follow(new ManualClock())
    return RedisWorld.open(server.address, options, server)
  })
})
