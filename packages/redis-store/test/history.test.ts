import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RedisWorld } from './support/redis-world.ts'

describe.skipIf(lacksRedis)('history, with redis-server:', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await RedisServer.start()
  })
  afterAll(() => server.stop())

  test('no minute is kept for longer than an hour, no hour for longer than a day', async () => {
    const world = await RedisWorld.open({ path: server.path })
    const store = await world.node()
    const startMs = 1_800_000_000_000
    await store.history.add(startMs, new Map([['completed', 1]]))
    const redis = world.server
    const [minute, hour] = [`xg:history:minute:${startMs}`, `xg:history:hour:${startMs}`]
    expect((await redis.keys('xg:history:*')).sort()).toEqual([hour, minute])
    expect(await redis.ttl(minute)).toBeGreaterThan(3600)
    expect(await redis.ttl(minute)).toBeLessThanOrEqual(3660)
    expect(await redis.ttl(hour)).toBeGreaterThan(24 * 3600)
    expect(await redis.ttl(hour)).toBeLessThanOrEqual(25 * 3600)
    await world.close()
  })
})
