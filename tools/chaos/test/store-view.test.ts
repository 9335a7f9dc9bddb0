import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { describe, expect, test } from 'vitest'
import { StoreView } from '../world/store-view.ts'

describe.skipIf(lacksRedis)('a look at the store', () => {
  let server: RedisServer
  withRedisServer((started) => (server = started))

  test('shows no job that expires while it is read', async () => {
    const redis = server.connect()
    for (const id of [1, 2]) {
      await redis.hset(`job:mail:${id}`, 'status', 'success', 'input', `job ${id}`)
    }
    const scan = redis.scan.bind(redis) as (...words: unknown[]) => Promise<[string, string[]]>
    const expiring = Object.assign(redis, {
      scan: async (...words: unknown[]) => {
        const listed = await scan(...words)
        await redis.del('job:mail:1')
        return listed
      },
    })
    const { jobs } = await new StoreView(expiring, ['mail']).snapshot()
    expect(jobs.map(({ id, key, expires }) => [id, key, expires])).toEqual([['2', 'job 2', false]])
    redis.disconnect()
  })
})
