import { describe, expect, test } from 'vitest'
import { GearMonkeyClient, GearMonkeyWorker } from '../../src/index.ts'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'

const workers = 2
const jobsEach = 2_000

describe.skipIf(lacksRedis)('with redis-server', () => {
  let redis: RedisServer

  withRedisServer((server) => (redis = server))

  test(`${workers} workers do ${workers * jobsEach} jobs, each once, and leave nothing behind`, async () => {
    const total = workers * jobsEach
    const done = new Map<number, number>()
    let finish: () => void = () => undefined
    const all = new Promise<void>((resolve) => (finish = resolve))
    const team = Array.from({ length: workers }, () => {
      return new GearMonkeyWorker(redis.url, { concurrency: 16 })
    })
    for (const worker of team) {
      await worker.accept('share', ({ id, input }) => {
        done.set(id, (done.get(id) ?? 0) + 1)
        if (done.size === total) finish()
        return input
      })
    }
    const client = new GearMonkeyClient(redis.url)
    const inputs = Array.from({ length: jobsEach }, (_item, i) => String(i))
    const batches = [
      client.runMany('share', inputs, { rollCall: true }),
      client.runMany('share', inputs, { priority: 'low' }),
    ]
    const ids = (await Promise.all(batches)).flat()
    await all
    await Promise.all(team.map((worker) => worker.stop()))
    expect([...done.keys()].toSorted((a, b) => a - b)).toEqual(ids.toSorted((a, b) => a - b))
    expect(new Set(done.values())).toEqual(new Set([1]))
    const control = redis.connect()
    expect(await control.get('count:share')).toBe('0')
    expect(await control.keys('queue:*')).toEqual([])
    const last = await client.get('share', total)
    expect(last?.status).toBe('success')
    client.close()
  })
})
