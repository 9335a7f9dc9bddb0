import { describe, expect } from 'vitest'
import { noStep } from '@crossgear/core-scheduler'
import {
  aJob,
  completed,
  type ContractTests,
  copies,
  submitAll,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

const max = Number.MAX_SAFE_INTEGER

/** The counter of ids, which any native client may set. */
export function idContract({ open, test }: ContractTests): void {
  describe('a counter of ids that a native client has set', () => {
    test.for([
      [max - 1, 1],
      [max - 2, 2],
      [0, 2],
    ] as const)('to %d gives ids for %d jobs', async ([last, count], { world, store }) => {
      await world.native.setLastId('mail', last)
      const ids = await submitAll(store, 'mail', copies(count))
      expect(ids).toEqual(Array.from({ length: count }, (_none, at) => last + 1 + at))
    })

    test.each([max, 2 ** 53, 2 ** 60, -5])(
      'to %d gives none: jobs of its lane are refused, and no others',
      async (last) => {
        const world = await open()
        const store = await world.node()
        await world.native.setLastId('mail', last)
        const submissions = ['mail', 'sms'].map((lane) => ({ lane, jobs: [aJob()], places: [0] }))
        const answer = await store.steps.step({ ...noStep, submissions })
        expect(answer.submissions).toMatchObject([
          {
            code: 'REFUSED',
            message: expect.stringMatching(/uid:.*mail.* gives no ids/) as string,
          },
          { results: [{ kind: 'created', id: 1 }] },
        ])
        expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ normal: 0, submitted: 0 })
        await world.native.setLastId('mail', 7)
        expect(await submitOne(store, 'mail')).toBe(8)
      },
    )

    test('beyond them keeps no job of another lane whose batch has a callback there', async ({
      world,
      store,
    }) => {
      const job = { ...aJob({ door: 'faktory' }), jid: 'jid-done' }
      await store.batches.create({ bid: 'b1', description: '', success: { lane: 'calls', job } })
      await submitOne(store, 'mail', { door: 'faktory', batch: 'b1' })
      await store.batches.commit('b1')
      await world.native.setLastId('calls', max)
      const held = await takeOne(store, 'mail')
      expect(await store.steps.finish('mail', [completed(held)])).toEqual(['done'])
      expect(await take(store, ['calls'])).toEqual([])
    })
  })
}
