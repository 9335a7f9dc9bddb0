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
    'with their oldest jobs take 5 commands of each in 8 calls, where each holds %i',
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

  test('that a scrape shows take 5 commands of each, which read two fields of the lane and one of its next job', async () => {
    for (const lane of lanes) await filled.fillQueue(lane, 2)
    const store = await filled.world.node()
    const cost = await filled.cost(async () => {
      const backlogs = await store.lanes.backlogs(lanes)
      expect(backlogs.every(({ normal, oldestMs = 0 }) => normal === 2 && oldestMs > 0)).toBe(true)
    })
    expect(cost.scripts).toBeLessThanOrEqual(8)
    expect(cost.commands).toBeLessThanOrEqual(5 * lanes.length + spare)
    const scripts = await filled.scripts(() => store.lanes.backlogs(lanes.slice(0, 64)))
    const reads = scripts.flat().filter(([command]) => command?.startsWith('h'))
    expect(Math.max(...reads.map((words) => words.length - 2))).toBe(2)
  })
})
