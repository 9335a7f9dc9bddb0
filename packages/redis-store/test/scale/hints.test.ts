import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { aJob } from '../contract/kit.ts'
import type { SteppedStore } from '../contract/store-world.ts'
import type { RedisWorld } from '../support/redis-world.ts'
import { callsIn } from '../support/calls-in.ts'
import { eachInNewWorld, oneServer } from '../support/servers.ts'

const lanes = 1_000

describe.skipIf(lacksRedis)('a queue whose hint index is wrong about 1,000 lanes', () => {
  let world: RedisWorld
  let store: SteppedStore

  eachInNewWorld(oneServer, async (opened) => {
    world = opened
    store = await world.node()
    await store.steps.submit('last', [aJob()])
    const hints = Array.from({ length: lanes }, (_none, at) => [at, `gone${at}`]).flat()
    await world.server.zadd('xg:ready:default', ...hints)
  })

  test('still hands out its jobs, in short calls', async () => {
    await world.server.config('RESETSTAT')
    const groups = [{ queue: 'default', lanes: ['last', 'other'] }]
    const jobs = await store.steps.claim({ by: 'consumer', groups, max: 1 })
    expect(jobs.map(({ lane }) => lane)).toEqual(['last'])
    const calls = await callsIn(world.server, 'fcall')
    expect(calls).toBeGreaterThan(4)
    expect(calls).toBeLessThan(8)
    expect(await world.server.zcard('xg:ready:default')).toBeLessThan(2)
  })
})
