import { describe, expect } from 'vitest'
import type { Level } from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import { aJob, type ContractTests, copies, namesOf, submitAll, submitOne } from '../kit.ts'

const groups = [{ lanes: ['a'] }, { lanes: ['b', 'b@bulk'] }, { lanes: ['c'] }]

async function takeByLevel(store: SteppedStore, max: number): Promise<string[]> {
  return namesOf(await store.steps.claim({ by: 'named', byLevel: true, groups, max }))
}

/** More jobs of a level than a push of another level may step over. */
const pushes: readonly (readonly [Level, number])[] = [
  [5, 50],
  [6, 800],
  [4, 300],
  [5, 50],
  [6, 60],
  [4, 60],
  [5, 10],
  [6, 10],
  [4, 10],
]

/** Claims by level before group. */
export function byLevelContract({ test }: ContractTests): void {
  describe('a claim by level', () => {
    test('takes the highest level of all groups, whatever their order', async ({ store }) => {
      await submitOne(store, 'a', { level: 2 })
      await submitOne(store, 'b', { level: 5 })
      await submitOne(store, 'b@bulk', { level: 8 })
      await submitOne(store, 'c', { level: 9 })
      expect(await takeByLevel(store, 3)).toEqual(['c:1', 'b@bulk:1', 'b:1'])
      expect(await takeByLevel(store, 3)).toEqual(['a:1'])
      expect(await takeByLevel(store, 3)).toEqual([])
    })

    test('takes jobs of one level from the groups in their order', async ({ store }) => {
      for (const lane of ['c', 'b', 'a']) await submitAll(store, lane, [aJob(), aJob()])
      expect(await takeByLevel(store, 5)).toEqual(['a:1', 'b:1', 'c:1', 'a:2', 'b:2'])
      expect(await takeByLevel(store, 5)).toEqual(['c:2'])
    })

    test('holds each job for the time of its own group, and reports when no job is left', async ({
      world,
      store,
    }) => {
      await submitOne(store, 'a')
      await submitOne(store, 'b')
      let isEmpty = false
      const jobs = await store.steps.claim({
        by: 'named',
        byLevel: true,
        groups: [{ lanes: ['a'], leaseMs: 1 }, { lanes: ['b'] }],
        max: 3,
        emptied: () => (isEmpty = true),
      })
      expect([namesOf(jobs), isEmpty]).toEqual([['a:1', 'b:1'], true])
      await world.pass(1_000)
      expect(namesOf(await store.jobs.expired(['a', 'b'], 9))).toEqual(['a:1'])
    })

    test('takes many jobs of the levels of a band in their order', async ({ store }) => {
      const order: Record<number, string[]> = { 4: [], 5: [], 6: [] }
      let last = 0
      for (const [level, count] of pushes) {
        await submitAll(store, 'a', copies(count, { level }))
        for (let left = count; left > 0; left -= 1) order[level]?.push(`a:${(last += 1)}`)
      }
      expect((await store.lanes.counts(['a']))[0]?.normal).toBe(last)
      const taken: string[] = []
      while (taken.length < last) {
        const some = await store.steps.claim({ by: 'named', groups: [{ lanes: ['a'] }], max: 300 })
        expect(some.length).toBeGreaterThan(0)
        taken.push(...namesOf(some))
      }
      expect(taken).toEqual([6, 5, 4].flatMap((level) => order[level]))
    })

    test('leaves out jobs whose clients have gone', async ({ store }) => {
      const gone = await submitOne(store, 'c', { level: 8, foreground: true })
      await submitOne(store, 'a')
      await store.jobs.abandon('c', [gone])
      expect(await takeByLevel(store, 2)).toEqual(['a:1'])
    })
  })
}
