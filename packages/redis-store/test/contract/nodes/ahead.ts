import { describe, expect } from 'vitest'
import { noStep, type Lease, type LeaseStart } from '@crossgear/core-scheduler'
import {
  aJob,
  bytes,
  completed,
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
  type ContractTests,
  reclaimNode,
} from '../kit.ts'
import type { SteppedStore, StoreWorld } from '../store-world.ts'

/** Jobs leased before a worker asks, which go back when none does. */
export function aheadContract({ open, test }: ContractTests): void {
  describe('jobs reserved ahead', () => {
    test.for([
      ['5 5 5', [5, 5, 5], 2, ['5-0', '5-1', '5-2']],
      ['3 2 2', [3, 2, 2], 3, ['3-0', '2-1', '2-2']],
      ['4 4 5', [4, 4, 5], 2, ['5-2', '4-0', '4-1']],
      ['9 9 7', [9, 9, 7], 1, ['9-0', '9-1', '7-2']],
      ['1 1 1', [1, 1, 1], 2, ['1-0', '1-1', '1-2']],
    ] as const)(
      'jobs that no worker got go back to the front of their level: %s',
      async ([_name, levels, count, order], { world }) => {
        const { store, log } = await listening(world)
        await store.lanes.register('mail')
        await store.steps.submit('mail', jobsOf(...levels))
        const before = await take(store, ['mail'], count)
        const { enqueuedAtMs } = before[0] as Lease
        const results = await store.steps.finish('mail', before.map(requeuedInFront))
        expect(results).toEqual(before.map(() => 'requeued'))
        await log.waitFor('woken', ({ lane }) => lane === 'mail')
        const again = await take(store, ['mail'], 9)
        expect(inputsOf(again)).toEqual(order)
        const [first] = again.filter(({ id }) => id === before[0]?.id)
        expect(first?.enqueuedAtMs).toBe(enqueuedAtMs)
        expect(first?.losses).toBe(0)
      },
    )

    test('jobs that came meanwhile are behind those that went back, except on higher levels', async ({
      store,
    }) => {
      await store.steps.submit('mail', jobsOf(5, 5))
      const held = await take(store, ['mail'], 2)
      await store.steps.submit('mail', [
        aJob({ level: 6, input: bytes('urgent') }),
        aJob({ input: bytes('late') }),
      ])
      await store.steps.finish('mail', held.map(requeuedInFront))
      expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['urgent', '5-0', '5-1', 'late'])
    })

    test('an abandoned job goes back as well, and is not run', async ({ store }) => {
      await submitOne(store, 'mail', { foreground: true })
      const held = await takeOne(store, 'mail')
      await store.jobs.abandon('mail', [held.id])
      expect(await store.steps.finish('mail', [requeuedInFront(held)])).toEqual(['requeued'])
      expect((await readOne(store, 'mail', held.id))?.status).toBe('idle')
      expect(await take(store, ['mail'])).toEqual([])
      expect(await readOne(store, 'mail', held.id)).toBeUndefined()
    })

    test('jobs are reserved ahead in the same call', async ({ store }) => {
      await store.steps.submit('mail', jobsOf(5, 5, 5))
      const groups = [{ lanes: ['mail'] }]
      expect(idsOf(await store.steps.claim({ by: 'named', groups, max: 0, prefetch: 1 }))).toEqual([
        1,
      ])
      expect(idsOf(await store.steps.claim({ by: 'named', groups, max: 1, prefetch: 9 }))).toEqual([
        2, 3,
      ])
    })

    test('a claim reports when it leaves no job in any of its lanes', async ({ store }) => {
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

    test("a by-name worker's deadline can be lifted, and the job still goes back with its node", async () => {
      const world = await open()
      const store = await world.node()
      await submitOne(store, 'mail')
      const groups = [{ lanes: ['mail'], leaseMs: 1_000 }]
      const [held] = await store.steps.claim({ by: 'named', groups, max: 1 })
      if (!held) throw new Error('nothing was claimed')
      const { lane, id, token } = held
      const lifted = { lane, id, kind: 'lease', heldMs: Infinity } as const
      expect(await store.steps.report([{ ...lifted, token: 'another' }])).toEqual([false])
      expect(await store.steps.report([{ ...lifted, token }])).toEqual([true])
      await world.pass(3_600_000)
      expect(await store.jobs.expired(['mail'], 9)).toEqual([])
      const other = await world.node()
      expect(await reclaimNode(other, store.node, ['mail'])).toEqual(['mail'])
      expect((await takeOne(other, 'mail')).id).toBe(id)
    })

    describe('for consumers', () => {
      const groups = [{ queue: 'default', lanes: ['mail'] }]
      const leaseMs = 10_000
      const claim = (store: SteppedStore, max: number, prefetch: number) =>
        store.steps.claim({ by: 'consumer', groups, max, prefetch })
      const startOf = ({ lane, id, token }: Lease, heldMs = 0): LeaseStart => ({
        lane,
        id,
        token,
        kind: 'lease',
        heldMs,
      })

      /** Jobs claimed by a node: the first for a consumer, the others in advance. */
      async function claimed(world: StoreWorld) {
        const store = await world.node()
        await submitAll(
          store,
          'mail',
          [0, 1, 2].map(() => aJob({ door: 'faktory', reserveForSeconds: leaseMs / 1_000 })),
        )
        const [fetched, ...ahead] = await claim(store, 1, 2)
        const [first, second] = ahead
        if (!fetched || !first || !second) throw new Error('not all were claimed')
        return { store, other: await world.node(), fetched, first, second }
      }

      test('go back when their node dies; a job that a consumer has does not', async () => {
        const { store, other, first, second } = await claimed(await open())
        expect(await reclaimNode(other, store.node, ['mail'])).toEqual(['mail'])
        expect(idsOf(await claim(other, 9, 0))).toEqual([first.id, second.id])
        expect(await store.steps.report([startOf(first)])).toEqual([false])
        expect(await store.steps.finish('mail', [completed(first)])).toEqual(['unknown'])
      })

      test('go back when their node leaves', async () => {
        const { store, other, first, second } = await claimed(await open())
        await store.nodes.leave(['mail'])
        expect(idsOf(await claim(other, 9, 0))).toEqual([first.id, second.id])
      })

      test('survive their node once it has reported that a consumer has them', async () => {
        const { store, other, first, second } = await claimed(await open())
        expect(await store.steps.report([startOf(first)])).toEqual([true])
        await reclaimNode(other, store.node, ['mail'])
        expect(idsOf(await claim(other, 9, 0))).toEqual([second.id])
        expect(await other.steps.finish('mail', [completed(first)])).toEqual(['done'])
      })

      test('are leased from when their consumer got them, however often that is reported', async ({
        world,
      }) => {
        const { store, first, second } = await claimed(world)
        for (let times = 0; times < 2; times += 1)
          expect(await store.steps.report([startOf(first, 5_000)])).toEqual([true])
        await world.pass(leaseMs + 1_000)
        const late = async () => (await store.jobs.expired(['mail'], 9)).map(({ id }) => id)
        expect(await late()).not.toContain(first.id)
        expect(await late()).toContain(second.id)
        await world.pass(5_000)
        expect(await late()).toContain(first.id)
      })

      test('that a consumer has done need no such report', async () => {
        const { store, first } = await claimed(await open())
        const outcomes = [{ lane: 'mail', outcomes: [completed(first)] }]
        const answer = await store.steps.step({ ...noStep, reports: [startOf(first)], outcomes })
        expect([answer.reports, answer.outcomes]).toEqual([[true], [['done']]])
        expect(await store.steps.report([startOf(first)])).toEqual([false])
      })

      test('are handed out by another claim if they went back', async () => {
        const { store, other, first } = await claimed(await open())
        await store.steps.finish('mail', [requeuedInFront(first)])
        const [again] = await claim(other, 1, 0)
        expect(again?.id).toBe(first.id)
        expect(await store.steps.report([startOf(first)])).toEqual([false])
        await reclaimNode(store, other.node, ['mail'])
        expect(await claim(store, 9, 0)).toEqual([])
      })
    })

    test('a limited queue hands out nothing ahead', async () => {
      const throttles = new Map([['bulk', { concurrency: 2 }]])
      const store = await (await open({ throttles })).node()
      await submitAll(store, 'mail@bulk', [aJob(), aJob(), aJob()])
      const groups = [{ lanes: ['mail@bulk'] }]
      expect(idsOf(await store.steps.claim({ by: 'named', groups, max: 1, prefetch: 5 }))).toEqual([
        1,
      ])
    })
  })
}
