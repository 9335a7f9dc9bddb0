import { storeContract } from '@crossgear/store-testkit'
import { patientCluster, RedisCluster } from '@crossgear/tools/redis-cluster'
import { lacksRedis, lacksValkey, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe } from 'vitest'
import { RedisWorld } from './support/redis-world.ts'
import { startValkey, type Valkey } from './support/valkey.ts'

const programs = [
  ['redis-server', lacksRedis],
  ['valkey-server', lacksValkey],
] as const

for (const [program, isLacking] of programs) {
  describe.skipIf(isLacking)(`with ${program},`, () => {
    let server: RedisServer
    beforeAll(async () => {
      server = await RedisServer.startAs({ program })
    })
    afterAll(() => server.stop())
    storeContract(program, (options) => RedisWorld.open({ path: server.path }, options))
  })
}

describe.skipIf(lacksRedis)('with a cluster of three,', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await RedisCluster.start({ words: patientCluster })
  })
  afterAll(() => cluster.stop())
  storeContract('Redis Cluster', (options) => {
    const nodes = cluster.masters.map(({ port }) => ({ host: '127.0.0.1', port }))
    return RedisWorld.open({ nodes }, options)
  })
})

describe('on the embedded server,', () => {
  let server: Valkey
  beforeAll(async () => {
    server = await startValkey()
  })
  afterAll(() => server.stop())
  storeContract('Valkey as WebAssembly', (options) => RedisWorld.open(server.address, options))
})
