import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FilledStore } from './filled-store.ts'

const lanes = Array.from({ length: 500 }, (_none, at) => `f${at + 1}`)
/** The look at what it cost is some commands, too. */
const spare = 20

describe.skipIf(lacksRedis)('the counts of 500 lanes', () => {
  let filled: FilledStore

  beforeEach(async () => {
    filled = await FilledStore.open()
    await filled.fillLanes(lanes.length)
  })
  afterEach(() => filled.close())

  test.each([1, 500])(
    'with their oldest jobs take 5 commands for each lane of %i jobs, in 8 calls',
    async (jobs) => {
      for (const lane of lanes) await filled.fillQueue(lane, jobs)
      const store = await filled.world.node()
      const cost = await filled.cost(async () => {
        const counts = await store.lanes.counts(lanes, true)
        expect(counts.every(({ normal, oldestMs = 0 }) => normal === jobs && oldestMs > 0)).toBe(
          true,
        )
      })
      expect(cost.scripts).toBeLessThanOrEqual(8)
      expect(cost.commands).toBeLessThanOrEqual(5 * lanes.length + spare)
    },
  )

  test('with their oldest jobs show each job in one place at any moment of a move', async () => {
    const store = await filled.world.node()
    await filled.fillQueue('f1', 99)
    const mover = filled.redis.duplicate()
    const takeOne = `redis.call('ZADD', 'xg:busy:f1', 8e15, redis.call('RPOP', 'queue:f1:normal'))`
    for (let look = 0; look < 60; look += 1) {
      const looked = store.lanes.counts(['f1'], true)
      // At other steps of the look each time.
      for (let pings = look % 3; pings > 0; pings -= 1) await mover.ping()
      await mover.eval(takeOne, 0)
      const [found] = await looked
      expect((found?.normal ?? 0) + (found?.running ?? 0)).toBe(99)
    }
    mover.disconnect()
  })

  test.each([
    ['high', ['LPUSH', 'queue:f9:high', '77']],
    ['low', ['LPUSH', 'queue:f9:low', '77']],
    ['scheduled', ['ZADD', 'queue:f9:scheduled', '4e9', '77']],
    ['running', ['ZADD', 'xg:busy:f9', '8e15', '77']],
    ['dead', ['ZADD', 'xg:dead:f9', '4e12', '77']],
    ['workers', ['SET', 'count:f9', '1']],
  ] as const)('show the first one that is %s', async (place, [command, ...words]) => {
    for (const lane of lanes) await filled.fillQueue(lane, 1)
    const store = await filled.world.node()
    await store.lanes.sizes(lanes)
    await filled.redis.call(command, ...words)
    const found = await store.lanes.sizes(lanes)
    expect(found.filter((sizes) => sizes[place] === 1).map(({ lane }) => lane)).toEqual(['f9'])
    expect(found.every(({ normal }) => normal === 1)).toBe(true)
    await filled.redis.del(words[0])
    expect((await store.lanes.sizes(lanes)).every((sizes) => sizes[place] === 0)).toBe(true)
  })
})
