import { describe, expect, test } from 'vitest'
import type { Lease } from '@crossgear/core-scheduler'
import {
  aJob,
  bytes,
  idsOf,
  inputsOf,
  jobsOf,
  listening,
  readOne,
  requeuedInFront,
  submitAll,
  submitOne,
  take,
  takeOne,
  type OpenWorld,
} from '../kit.ts'

/** Jobs leased before a worker asks, which go back when none does. */
export function aheadContract(open: OpenWorld): void {
  describe('jobs reserved ahead', () => {
    test.each([
      ['5 5 5', [5, 5, 5], 2, ['5-0', '5-1', '5-2']],
      ['3 2 2', [3, 2, 2], 3, ['3-0', '2-1', '2-2']],
      ['4 4 5', [4, 4, 5], 2, ['5-2', '4-0', '4-1']],
      ['9 9 7', [9, 9, 7], 1, ['9-0', '9-1', '7-2']],
      ['1 1 1', [1, 1, 1], 2, ['1-0', '1-1', '1-2']],
    ] as const)(
      'jobs that no worker has had go back to the front of their level: %s',
      async (_name, levels, count, order) => {
        const world = await open()
        const { store, log } = await listening(world)
        await store.lanes.register('mail')
        await store.steps.submit('mail', jobsOf(...levels))
        const before = await take(store, ['mail'], count)
        const { enqueuedAtMs } = before[0] as Lease
        const results = await store.steps.finish('mail', before.map(requeuedInFront))
        expect(results).toEqual(before.map(() => 'requeued'))
        await log.until('woken', ({ lane }) => lane === 'mail')
        const again = await take(store, ['mail'], 9)
        expect(inputsOf(again)).toEqual(order)
        const [first] = again.filter(({ id }) => id === before[0]?.id)
        expect(first?.enqueuedAtMs).toBe(enqueuedAtMs)
        expect(first?.losses).toBe(0)
      },
    )

    test('jobs that came meanwhile stand behind those that went back, but for higher levels', async () => {
      const store = await (await open()).node()
      await store.steps.submit('mail', jobsOf(5, 5))
      const held = await take(store, ['mail'], 2)
      await store.steps.submit('mail', [
        aJob({ level: 6, input: bytes('urgent') }),
        aJob({ input: bytes('late') }),
      ])
      await store.steps.finish('mail', held.map(requeuedInFront))
      expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['urgent', '5-0', '5-1', 'late'])
    })

    test('a job that nobody waits for any more goes back all the same, and is not run', async () => {
      const store = await (await open()).node()
      await submitOne(store, 'mail', { foreground: true })
      const held = await takeOne(store, 'mail')
      await store.jobs.abandon('mail', [held.id])
      expect(await store.steps.finish('mail', [requeuedInFront(held)])).toEqual(['requeued'])
      expect((await readOne(store, 'mail', held.id))?.status).toBe('idle')
      expect(await take(store, ['mail'])).toEqual([])
      expect(await readOne(store, 'mail', held.id)).toBeUndefined()
    })

    test('jobs are reserved ahead in the same call', async () => {
      const store = await (await open()).node()
      await store.steps.submit('mail', jobsOf(5, 5, 5))
      const groups = [{ lanes: ['mail'] }]
      expect(idsOf(await store.steps.claim({ by: 'named', groups, max: 0, ahead: 1 }))).toEqual([1])
      expect(idsOf(await store.steps.claim({ by: 'named', groups, max: 1, ahead: 9 }))).toEqual([
        2, 3,
      ])
    })

    test('a claim tells when it leaves nothing, in any lane that it was for', async () => {
      const store = await (await open()).node()
      await store.steps.submit('mail', jobsOf(5, 5))
      await store.steps.submit('sms', jobsOf(2))
      const left = async (lanes: string[], max: number): Promise<boolean> => {
        let isEmpty = false
        await store.steps.claim({
          by: 'named',
          groups: [{ lanes }],
          max,
          emptied: () => (isEmpty = true),
        })
        return !isEmpty
      }
      expect(await left(['mail'], 1)).toBe(true)
      expect(await left(['mail'], 1)).toBe(false)
      expect(await left(['mail'], 1)).toBe(false)
      expect(await left(['mail', 'sms'], 0)).toBe(true)
      expect(await left(['mail', 'sms'], 1)).toBe(false)
    })

    test('a limited queue hands out nothing ahead', async () => {
      const throttles = new Map([['bulk', { concurrency: 2 }]])
      const store = await (await open({ throttles })).node()
      await submitAll(store, 'mail@bulk', [aJob(), aJob(), aJob()])
      const groups = [{ lanes: ['mail@bulk'] }]
      expect(idsOf(await store.steps.claim({ by: 'named', groups, max: 1, ahead: 5 }))).toEqual([1])
    })
  })
}
