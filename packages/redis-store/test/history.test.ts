import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import type { RedisWorld } from './support/redis-world.ts'
import { eachInNewWorld, oneServer } from './support/servers.ts'

describe.skipIf(lacksRedis)('history, with redis-server:', () => {
  let world: RedisWorld
  eachInNewWorld(oneServer, (opened) => (world = opened))

  test('no minute is kept for longer than an hour, no hour for longer than a day', async () => {
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
  })
})
