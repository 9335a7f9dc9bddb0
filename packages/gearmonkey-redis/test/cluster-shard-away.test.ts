import type { NewJob } from '@crossgear/core-scheduler'
import { RedisCluster } from '@crossgear/tools/redis-cluster'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Keys } from '../src/keys.ts'
import { RedisStore } from '../src/store.ts'

const job: NewJob = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false }
const keys = new Keys(true)

describe.skipIf(lacksRedis)('in a cluster of which one master is gone,', () => {
  let cluster: RedisCluster
  let store: RedisStore
  /** Has the index of the lanes that have jobs. */
  let indexing: RedisServer

  beforeEach(async () => {
    cluster = await RedisCluster.start({ words: ['--cluster-require-full-coverage', 'no'] })
    store = new RedisStore({
      nodes: cluster.masters.map(({ port }) => ({ host: '127.0.0.1', port })),
    })
    await store.open()
    indexing = await cluster.masterOf(keys.ready('default'))
  }, 30_000)
  afterEach(async () => {
    await store.close()
    await cluster.stop()
  })

  const laneOn = async (isWanted: (server: RedisServer) => boolean): Promise<string> => {
    for (let at = 0; ; at += 1) {
      const lane = `lane${at}`
      if (!isWanted(await cluster.masterOf(keys.busy(lane)))) continue
      await store.registerLane(lane)
      return lane
    }
  }

  test('a job that is stored is taken, though the index of its queue is away', async () => {
    const lane = await laneOn((server) => server !== indexing)
    await indexing.kill()
    expect(await store.submit(lane, [job])).toMatchObject([{ kind: 'created' }])
  })

  test('an outcome that is stored is settled, though the index of its queue is away', async () => {
    const lane = await laneOn((server) => server !== indexing)
    await store.submit(lane, [job, job])
    const [taken] = await store.claim({ by: 'named', groups: [{ lanes: [lane] }], max: 1 })
    await indexing.kill()
    const outcome = {
      lane,
      id: taken!.id,
      token: taken!.token,
      kind: 'complete',
      output: Buffer.from('out'),
    } as const
    expect(await store.finish(lane, [outcome])).toHaveLength(1)
  })

  test('a claim hands out what it took before it came to a lane that is away', async () => {
    const here = await laneOn((server) => server !== indexing)
    const away = await laneOn((server) => server === indexing)
    await store.submit(here, [job])
    await indexing.kill()
    const groups = [{ lanes: [here] }, { lanes: [away] }]
    expect(await store.claim({ by: 'named', groups, max: 2 })).toHaveLength(1)
  })
})
