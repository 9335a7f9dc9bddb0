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
})
