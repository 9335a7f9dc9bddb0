import { Scheduler, type Observer } from '@crossgear/core-scheduler'
import { aJob } from '../contract/kit.ts'
import { RecordingObserver } from '@crossgear/tools/recording-observer'
import type { SteppedStore } from '../contract/store-world.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chunks } from '../../src/chunks.ts'
import { FilledStore } from './filled-store.ts'
import { realClock } from './real-clock.ts'

/** Lanes in one call, some 30 us of the server's time each at most: a call of 5 ms would have to take more. */
const lanesPerCall = 64
const weekMs = 7 * 24 * 3_600_000

describe.skipIf(lacksRedis)('a store with many lanes', () => {
  let filled: FilledStore
  let store: SteppedStore

  beforeEach(async () => {
    filled = await FilledStore.open()
    store = await filled.world.node()
  })
  afterEach(() => filled.close())

  test('a consumer that joins or leaves a queue of 2,000 lanes takes few calls', async () => {
    await filled.fillLanes(2_000, 'f', '@bulk')
    const observer: Observer = new RecordingObserver()
    const scheduler = new Scheduler(store, realClock(), observer, {})
    await scheduler.start()
    for (const [change, workers] of [
      [1, '1'],
      [-1, '0'],
    ] as const) {
      const last = 'count:f2000@bulk'
      const cost = await filled.cost(async () => {
        scheduler.countConsumer('bulk', change)
        await expect.poll(() => filled.redis.get(last)).toBe(workers)
      })
      expect(cost.scripts).toBeLessThan(400)
      // Looks of the background are counted too.
      expect(cost.commands).toBeLessThan(2_000 * 12)
    }
    await scheduler.stop()
  })

  test('a FLUSH takes one script for each of 2,000 lanes, and few others', async () => {
    await filled.fillLanes(2_000)
    await filled.fillQueue('f1999', 10)
    const scheduler = new Scheduler(store, realClock(), new RecordingObserver(), {})
    await scheduler.start()
    const cost = await filled.cost(() => scheduler.queues.flush())
    expect(cost.scripts).toBeLessThan(2_000 * 1.2)
    // Each lane leaves the registry in the script that takes the last look at it, among 63 others.
    expect(cost.calls('hdel')).toBe(2_000)
    expect(cost.commands).toBeLessThan(2_000 * 60)
    expect([...scheduler.registry.all()]).toEqual([])
    expect(await filled.redis.keys('job:*')).toEqual([])
    await scheduler.stop()
  })

  test('a consumer does not query 4,000 closed lanes with waiting jobs', async () => {
    const lanes = Array.from({ length: 4_000 }, (_none, at) => `closed${at + 1}`)
    await filled.fill(
      lanes.length,
      `for at = first, last do redis.call('HSET', 'xg:lanes', 'closed' .. at, at) end`,
    )
    // In pieces: a slow machine does not answer all of them in time.
    for (const some of chunks(lanes, 200))
      await Promise.all(some.map((lane) => store.steps.submit(lane, [aJob()])))
    expect(await filled.redis.zcard('xg:ready:default')).toBe(lanes.length)
    const worked = new Map(lanes.map((lane) => [lane, { named: 1, consumers: 0 }]))
    await store.lanes.setWorkers(worked)
    expect(await filled.redis.zcard('xg:ready:default')).toBe(0)
    await store.lanes.heal(lanes)
    const cost = await filled.cost(async () => {
      const groups = [{ lanes, queue: 'default' }]
      expect(await store.steps.claim({ by: 'consumer', access: 'auto', groups, max: 1 })).toEqual(
        [],
      )
    })
    expect(cost.commands).toBeLessThan(20)
  })

  test('a consumer of 4,000 lanes claims a job in as few commands while functions are paused', async () => {
    const lanes = Array.from({ length: 4_000 }, (_none, at) => `f${at + 1}`)
    await filled.fillLanes(lanes.length)
    for (const lane of ['f7', 'f8', 'f9']) await store.steps.submit(lane, [aJob()])
    const scheduler = new Scheduler(store, realClock(), new RecordingObserver(), {})
    await scheduler.start()
    await scheduler.queues.pauseFunctions(['f7', 'f9'])
    const subscription = scheduler.consumerSubscription(['default'])
    const fetched = (): Promise<string | undefined> =>
      new Promise((resolve, reject) =>
        scheduler.claim({
          subscription,
          gone: false,
          assigned: ({ job: { lane } }) => resolve(lane),
          onEmpty: () => resolve(undefined),
          refused: reject,
          failed: reject,
        }),
      )
    expect(await fetched()).toBe('f8')
    const cost = await filled.cost(async () => expect(await fetched()).toBeUndefined())
    expect(cost.commands).toBeLessThan(40)
    await scheduler.stop()
  })

  test('a job is found by its jid in two commands, whatever lanes there are', async () => {
    await filled.fillLanes(2_000, 'f')
    await store.steps.submit('f1999', [aJob({ door: 'faktory', jid: 'jid-of-f1999' })])
    const cost = await filled.cost(async () => {
      expect(await store.jobs.findJid('jid-of-f1999')).toEqual({ lane: 'f1999', id: 1 })
      expect(await store.jobs.findJid('jid-of-nobody')).toBeUndefined()
    })
    // The look at what it cost is some, too.
    expect(cost.commands).toBeLessThan(12)
  })
})

describe.skipIf(lacksRedis)('a store with many lanes, of which 64 of 65,000 hold jobs', () => {
  let filled: FilledStore
  let store: SteppedStore
  const lanes = Array.from({ length: 65_000 }, (_none, at) => `f${at + 1}`)
  const full = lanes.filter((_lane, at) => at % 1_024 === 0)

  beforeAll(async () => {
    filled = await FilledStore.open()
    store = await filled.world.node()
    await filled.fillLanes(lanes.length)
    for (const lane of full) await filled.fillQueue(lane, 10)
  })
  afterAll(() => filled.close())

  test('all are counted in short calls, with one command for an empty one', async () => {
    const cost = await filled.cost(async () => {
      const counts = await store.lanes.counts(lanes)
      expect(counts.map(({ lane }) => lane)).toEqual(lanes)
      expect(counts.filter(({ normal }) => normal === 10).map(({ lane }) => lane)).toEqual(full)
      expect(new Set(counts.map(({ openness }) => openness))).toEqual(new Set(['open']))
    })
    expect(cost.scripts).toBeLessThan(1_100)
    expect(cost.scripts).toBeGreaterThan(lanes.length / lanesPerCall)
    expect(cost.commands).toBeLessThan(1.1 * lanes.length)
  })

  test('all places are counted by short calls, without a command for an empty one', async () => {
    const cost = await filled.cost(async () => {
      const sizes = await store.lanes.sizes(lanes)
      expect(sizes.map(({ lane }) => lane)).toEqual(lanes)
      expect(sizes.filter(({ normal }) => normal === 10).map(({ lane }) => lane)).toEqual(full)
    })
    expect(cost.calls('exists')).toBeGreaterThan(lanes.length / lanesPerCall)
    expect(cost.scripts).toBeLessThan(full.length)
    expect(cost.commands).toBeLessThan(0.1 * lanes.length)
  })

  test('all are counted in short calls if most were always empty', async () => {
    const others = Array.from({ length: lanes.length }, (_none, at) => `g${at + 1}`)
    await filled.fillQueue('g7', 10)
    const some = [...others.slice(0, 60_000), ...lanes.slice(0, 5_000)]
    for (const look of [() => store.lanes.counts(some), () => store.lanes.counts(some, true)]) {
      const cost = await filled.cost(async () => {
        const counts = await look()
        expect(counts.map(({ lane }) => lane)).toEqual(some)
        const holding = counts.filter(({ normal }) => normal === 10).map(({ lane }) => lane)
        expect(holding).toEqual(['g7', ...full.filter((lane) => some.includes(lane))])
      })
      expect(cost.calls('exists')).toBeGreaterThan(others.length / lanesPerCall)
      expect(cost.scripts).toBeLessThan((5_000 / lanesPerCall) * 1.5)
      expect(cost.commands).toBeLessThan(0.2 * lanes.length)
    }
  })

  /** Each has its one lane, of all those that are empty otherwise. */
  const onlyOnes = [
    ['high', 'f9', ['LPUSH', 'queue:f9:high', '77']],
    ['low', 'f10', ['LPUSH', 'queue:f10:low', '77']],
    ['scheduled', 'f11', ['ZADD', 'queue:f11:scheduled', '4e9', '77']],
    ['running', 'f12', ['ZADD', 'xg:busy:f12', '8e15', '77']],
    ['dead', 'f13', ['ZADD', 'xg:dead:f13', '4e12', '77']],
    ['workers', 'f14', ['SET', 'count:f14', '1']],
  ] as const

  test('the only one that is high, low, scheduled, running, dead or has workers is shown', async () => {
    for (const [, , [command, ...words]] of onlyOnes) await filled.redis.call(command, ...words)
    for (const look of [() => store.lanes.sizes(lanes), () => store.lanes.counts(lanes, true)]) {
      const found = await look()
      const shown = onlyOnes.map(([place]) => [
        place,
        found.filter((sizes) => sizes[place] === 1).map(({ lane }) => lane),
      ])
      expect(shown).toEqual(onlyOnes.map(([place, lane]) => [place, [lane]]))
    }
    for (const [, , [, key]] of onlyOnes) await filled.redis.del(key)
  })

  test('jobs outside lists that native workers have emptied are reported', async () => {
    await filled.redis.lpush('xg:level:f5:6', '1', '2', '3')
    await filled.redis.hset('xg:lane:f5', 'aside', '3')
    await filled.redis.zadd('xg:due', Date.now() + 1_000, 'f5')
    const sizes = await store.lanes.sizes(lanes)
    expect(sizes[4]).toMatchObject({ lane: 'f5', normal: 3 })
    await filled.redis.del('xg:level:f5:6', 'xg:due')
    await filled.redis.hdel('xg:lane:f5', 'aside')
  })

  test('queued jobs are found without a script for the empty ones', async () => {
    const cost = await filled.cost(async () => {
      expect(await store.lanes.nonEmpty(lanes)).toEqual(full)
    })
    expect(cost.calls('exists')).toBeGreaterThan(lanes.length / lanesPerCall)
    expect(cost.scripts).toBeLessThan(full.length)
    expect(cost.commands).toBeLessThan(0.1 * lanes.length)
  })

  test('indexes are healed in short calls', async () => {
    await filled.redis.del('xg:ready:default')
    const all = await filled.cost(() => store.lanes.heal(lanes))
    expect(all.scripts).toBeLessThan(1_500)
    expect(all.scripts).toBeGreaterThan(lanes.length / lanesPerCall)
    expect(all.commands).toBeLessThan(2.2 * lanes.length)
    expect(await filled.redis.zcard('xg:ready:default')).toBe(full.length)
  })

  test('a dead node is taken out of all in short calls, and walked out of those with jobs', async () => {
    const cost = await filled.cost(() =>
      store.nodes.reclaim('gone', lanes, { maxLosses: 0, failure: '{}' }),
    )
    expect(cost.scripts).toBeLessThan(1_500)
    expect(cost.scripts).toBeGreaterThan(lanes.length / lanesPerCall)
    expect(cost.commands).toBeLessThan(3 * lanes.length)
  })

  test('unused ones are looked for in short calls', async () => {
    const cost = await filled.cost(async () => {
      const idle = { unusedMs: weekMs, emptiedMs: weekMs, keptMs: weekMs }
      expect((await store.lanes.giveBack(lanes.slice(0, 6_400), idle)).size).toBe(0)
    })
    expect(cost.scripts).toBeGreaterThanOrEqual(100)
    expect(cost.commands).toBeLessThan(7 * 6_400)
  })

  test('the list of them is read in pieces', async () => {
    const cost = await filled.cost(async () => {
      expect((await store.lanes.all()).size).toBe(lanes.length)
    })
    expect(cost.calls('hgetall')).toBe(0)
    expect(cost.calls('hscan')).toBeGreaterThan(50)
  })
})
