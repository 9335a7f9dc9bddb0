import { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import {
  commonParts,
  type ContractPart,
  partsOfSlots,
  storeContract,
} from './contract/store-contract.ts'
import { lacksRedis, lacksValkey } from '@crossgear/tools/redis-server'
import { playsAll, sampleOf } from '@crossgear/tools/sample'
import { afterAll, beforeAll, describe } from 'vitest'
import { ServerInProcess } from './support/in-process.ts'
import { RedisWorld } from './support/redis-world.ts'
import { aCluster, oneServer, serverOf, type Servers } from './support/servers.ts'

type Started = Pick<Servers, 'address' | 'stop'>

/** A commit plays one in so many parts that are the same in a cluster. */
const partsByDay = 8

/** A server's own suite: some of its parts, in place of all. */
interface Suite {
  readonly where: string
  readonly name: string
  readonly isLacking: string | false
  readonly start: () => Promise<Started>
  readonly parts?: readonly ContractPart[]
}

const redis: Suite = {
  where: 'with redis-server,',
  name: 'redis-server',
  isLacking: lacksRedis,
  start: oneServer,
}
const cluster: Suite = {
  where: 'with a cluster of three,',
  name: 'Redis Cluster',
  isLacking: lacksRedis,
  start: aCluster,
  parts: [...partsOfSlots, ...sampleOf(commonParts, partsByDay)],
}
/** The server inside the process is the same program. */
const valkey: Suite = {
  where: 'with valkey-server,',
  name: 'valkey-server',
  isLacking: lacksValkey,
  start: () => serverOf('valkey-server'),
}

for (const suite of [redis, cluster, ...(playsAll() ? [valkey] : [])]) {
  const { where, name, isLacking, start, parts } = suite
  describe.skipIf(isLacking)(where, () => {
    let started: Started
    beforeAll(async () => {
      started = await start()
    })
    afterAll(() => started.stop())
    storeContract(name, (options) => RedisWorld.open(started.address, options), parts)
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
