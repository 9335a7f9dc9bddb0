import type { Level, NewJob } from '@crossgear/core-scheduler'
import { allCompleted, take } from '../contract/kit.ts'
import type { SteppedStore } from '../contract/store-world.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { sampleOf } from '@crossgear/tools/sample'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkInvariants } from '../../src/invariants/invariants.ts'
import { FilledStore } from './filled-store.ts'
import { entriesOf } from './list-entries.ts'

/** Commands of a push, and entries of lists that it moves: some 0.2 ms of the server. */
const maxCommands = 40
const maxEntries = 2_500

function jobOf(level: Level): NewJob {
  return { input: Buffer.from('in'), door: 'faktory', foreground: false, level }
}

describe.skipIf(lacksRedis)('levels within a band', () => {
  let filled: FilledStore
  let store: SteppedStore

  beforeEach(async () => {
    filled = await FilledStore.open()
    store = await filled.world.node()
    await store.lanes.register('mail')
  })
  afterEach(() => filled.close())

  async function submit(...levels: readonly Level[]): Promise<number[]> {
    const results = await store.steps.submit('mail', levels.map(jobOf))
    return results.map((result) => (result.kind === 'created' ? result.id : 0))
  }

  const many = (level: Level, count: number): Level[] => Array.from({ length: count }, () => level)

  /** Takes all that is queued, and ends it. */
  async function drain(max: number): Promise<number[]> {
    const taken: number[] = []
    for (;;) {
      const some = await take(store, ['mail'], max)
      if (some.length === 0) return taken
      taken.push(...some.map(({ id }) => id))
      await store.steps.finish('mail', allCompleted(some))
    }
  }

  /** All that an operator is shown, page by page. */
  async function listed(): Promise<number[]> {
    const ids: number[] = []
    for (let from = 0; ; from += 700) {
      const { jobs, more } = await store.admin.listJobs('mail', from, 700)
      ids.push(...jobs.map(({ id }) => id))
      if (!more) return ids
    }
  }

  const violations = () => checkInvariants(filled.redis)

  test.each(sampleOf([7, 64, 384], 3))(
    'jobs of all levels are taken by level and then in the order of arrival, %i at a time',
    async (max) => {
      const levels: Level[] = [5, 6, 4, 7, 9, 8, 1, 3, 2]
      const expected = new Map<Level, number[]>()
      for (let round = 0; round < 12; round += 1) {
        for (const level of levels) {
          const ids = await submit(...many(level, 40 + ((round * level * 37) % 260)))
          expected.set(level, [...(expected.get(level) ?? []), ...ids])
        }
      }
      expect(await violations()).toEqual([])
      const order = ([9, 8, 7, 6, 5, 4, 3, 2, 1] as const).flatMap((one) => expected.get(one) ?? [])
      const [counts] = await store.lanes.counts(['mail'])
      expect((counts?.high ?? 0) + (counts?.normal ?? 0) + (counts?.low ?? 0)).toBe(order.length)
      expect((await listed()).sort((one, other) => one - other)).toEqual(
        [...order].sort((one, other) => one - other),
      )
      expect(await drain(max)).toEqual(order)
      expect(await violations()).toEqual([])
    },
  )

  test('jobs that arrive while workers claim keep their place', async () => {
    const waiting = new Map<Level, number[]>()
    const add = async (level: Level, count: number): Promise<void> => {
      waiting.set(level, [...(waiting.get(level) ?? []), ...(await submit(...many(level, count)))])
    }
    const expected: number[] = []
    const taken: number[] = []
    for (let round = 0; round < 30; round += 1) {
      for (const level of [4, 5, 6] as const) await add(level, 60 + ((round * 31 * level) % 90))
      const some = await take(store, ['mail'], 150)
      taken.push(...some.map(({ id }) => id))
      while (expected.length < taken.length) {
        const level = ([6, 5, 4] as const).find((one) => (waiting.get(one)?.length ?? 0) > 0) ?? 5
        expected.push(waiting.get(level)?.shift() ?? 0)
      }
      expect(taken).toEqual(expected)
    }
    expect(await violations()).toEqual([])
  })

  test('jobs that are given back go before the others of their level', async () => {
    const ids = { 4: [] as number[], 5: [] as number[], 6: [] as number[] }
    for (const level of [4, 6, 5] as const) ids[level] = await submit(...many(level, 1_000))
    for (const level of [6, 5, 4] as const) {
      const some = await take(store, ['mail'], 200)
      expect(some.map(({ id }) => id)).toEqual(ids[level].slice(0, 200))
      await store.steps.finish(
        'mail',
        some.map((one) => ({ ...one, kind: 'requeueFront' as const })),
      )
      expect(await violations()).toEqual([])
      await drainOnly(ids[level])
    }
  })

  async function drainOnly(ids: readonly number[]): Promise<void> {
    for (let at = 0; at < ids.length; at += 250) {
      const some = await take(store, ['mail'], 250)
      expect(some.map(({ id }) => id)).toEqual(ids.slice(at, at + 250))
      await store.steps.finish('mail', allCompleted(some))
    }
  }

  test.each([4, 6] as const)('native workers get all jobs of level %i', async (level) => {
    const ids = await submit(...many(5, 300), ...many(level, 3_000))
    const taken: number[] = []
    for (let looks = 0; looks < 20 && taken.length < ids.length; looks += 1) {
      for (let id = await filled.world.native.pop('mail'); id !== undefined;) {
        taken.push(id)
        id = await filled.world.native.pop('mail')
      }
      await filled.world.pass(1_100)
      await store.lanes.promote()
    }
    expect(new Set(taken)).toEqual(new Set(ids))
    expect(taken.length).toBe(ids.length)
  })

  test('a cancelled job and a cleared queue leave nothing behind', async () => {
    const ids = await submit(...many(5, 10), ...many(4, 1_000), ...many(6, 1_000))
    for (const id of [ids[500], ids[1_009], ids[2_009]]) {
      expect(await store.admin.cancel('mail', id ?? 0)).toBe(true)
    }
    expect(await violations()).toEqual([])
    expect((await store.lanes.counts(['mail']))[0]?.normal).toBe(2_007)
    for (let ended = 1; ended > 0;) {
      ended = (await store.queues.endJobs('mail', ['high', 'normal', 'low'], 500)).length
    }
    expect((await store.lanes.counts(['mail']))[0]?.normal).toBe(0)
    expect(await violations()).toEqual([])
    expect(await filled.redis.keys('xg:level:*')).toEqual([])
  })

  test.each([
    { name: 'a higher level into usual jobs', before: [], pushed: [6], queued: 300_000 },
    { name: 'a lower level into usual jobs', before: [], pushed: [4], queued: 300_000 },
    { name: 'usual jobs behind many of lower level', before: [4], pushed: [5], queued: 300_000 },
    { name: 'a mix behind many of each', before: [4, 6], pushed: [6, 4, 5], queued: 1_000_000 },
  ] as const)(
    'with $queued jobs queued, a push of $name costs what it pushes',
    async ({ before, pushed, queued }) => {
      await filled.fillQueue('mail', queued, 'normal', 5_000)
      for (const level of before) {
        for (let at = 0; at < 20; at += 1) await submit(...many(level, 1_000))
      }
      for (const level of pushed) await submit(...many(level, 900))
      for (const level of pushed) {
        const scripts = await filled.scripts(async () => {
          for (let push = 0; push < 20; push += 1) await submit(level)
        })
        expect(scripts).toHaveLength(20)
        for (const script of scripts) {
          expect(script.length).toBeLessThan(maxCommands)
          expect(entriesOf(script, queued)).toBeLessThan(maxEntries)
        }
      }
    },
  )
})
