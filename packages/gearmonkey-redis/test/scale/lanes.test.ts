import { Scheduler, type Observer, type Store } from '@crossgear/core-scheduler'
import { RecordingObserver } from '@crossgear/store-testkit'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FilledStore } from './filled-store.ts'
import { realClock } from './real-clock.ts'

/** Five thousandths of a second are promised for each; a noisy machine gets more. */
const wideMarginUs = 30_000

describe.skipIf(lacksRedis)('a store with many lanes', () => {
  let filled: FilledStore
  let store: Store

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
        await expect.poll(() => filled.redis.get(last), { timeout: 30_000 }).toBe(workers)
      })
      expect(cost.scripts).toBeLessThan(400)
      expect(cost.usualUs).toBeLessThan(wideMarginUs)
    }
    await scheduler.stop()
  })

  describe('of which 64 of 65,000 hold jobs', () => {
    const lanes = Array.from({ length: 65_000 }, (_none, at) => `f${at + 1}`)
    const full = lanes.filter((_lane, at) => at % 1_024 === 0)

    beforeEach(async () => {
      await filled.fillLanes(lanes.length)
      for (const lane of full) await filled.fillQueue(lane, 10)
    }, 60_000)

    test('all are counted in short calls, three commands each', async () => {
      const cost = await filled.cost(async () => {
        const counts = await store.counts(lanes)
        expect(counts.length).toBe(lanes.length)
        expect(counts.filter(({ normal }) => normal === 10).map(({ lane }) => lane)).toEqual(full)
      })
      expect(cost.usualUs).toBeLessThan(wideMarginUs)
      expect(cost.scripts).toBeLessThan(1_500)
      expect(cost.commands).toBeLessThan(3 * lanes.length)
    })

    test('queued jobs are found, and indexes healed, in short calls', async () => {
      const find = await filled.cost(async () => {
        expect(await store.nonEmpty(lanes)).toEqual(full)
      })
      const heal = await filled.cost(() => store.heal(lanes))
      expect(await filled.redis.zcard('xg:ready:default')).toBe(full.length)
      for (const { usualUs, scripts, commands } of [find, heal]) {
        expect(usualUs).toBeLessThan(wideMarginUs)
        expect(scripts).toBeLessThan(1_500)
        expect(commands).toBeLessThan(4 * lanes.length)
      }
    })

    test('the list of them is read in pieces', async () => {
      const cost = await filled.cost(async () => {
        expect((await store.lanes()).size).toBe(lanes.length)
      })
      expect(cost.calls('hgetall')).toBe(0)
      expect(cost.calls('hscan')).toBeGreaterThan(50)
    })
  })
})
