import { describe, expect } from 'vitest'
import type { DroppedJob, JobLock } from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import {
  aJob,
  completed,
  failed,
  killed,
  listening,
  readOne,
  retried,
  submitOne,
  take,
  takeOne,
  type ContractTests,
} from '../kit.ts'

const nowOf = async (store: SteppedStore): Promise<number> => (await store.nodes.beat()).nowMs
const lockFor = (forMs: number, until: JobLock['until'] = 'success'): JobLock => ({
  key: 'k',
  forMs,
  until,
})
const kindOf = async (store: SteppedStore, lock: JobLock): Promise<string | undefined> =>
  (await store.steps.submit('mail', [aJob({ door: 'faktory', lock })]))[0]?.kind

/** Expiry, and locks that keep doubles out. */
export function dependenciesContract({ open, test }: ContractTests): void {
  describe('stale jobs', () => {
    test.each(['named', 'consumer'] as const)(
      'are dropped when a %s would get them',
      async (by) => {
        const world = await open()
        const store = await world.node()
        const staleAtMs = (await nowOf(store)) + 10_000
        await submitOne(store, 'mail', { staleAtMs, jid: 'stale-001', door: 'faktory' })
        await submitOne(store, 'mail')
        await world.pass(10_001)
        const all: DroppedJob[] = []
        const dropped = (job: DroppedJob): void => void all.push(job)
        const claim = { by, groups: [{ lanes: ['mail'] }], max: 9, dropped }
        expect((await store.steps.claim(claim)).map(({ id }) => id)).toEqual([2])
        expect(all).toEqual([{ lane: 'mail', id: 1, door: 'faktory', how: 'expired' }])
        expect(await readOne(store, 'mail', 1)).toBeUndefined()
        expect(await store.jobs.findJid('stale-001')).toBeUndefined()
        expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ expired: 1, failed: 0 })
      },
    )

    test('are run before their time', async ({ store }) => {
      await submitOne(store, 'mail', { staleAtMs: (await nowOf(store)) + 10_000 })
      expect((await takeOne(store, 'mail')).id).toBe(1)
    })

    test('that were scheduled are dropped, too, and counted, when a consumer asks for their queue', async ({
      world,
      store,
    }) => {
      const nowMs = await nowOf(store)
      const times = { dueAtMs: nowMs + 1_000, staleAtMs: nowMs + 5_000 }
      await submitOne(store, 'mail', times)
      await submitOne(store, 'news', times)
      await world.pass(6_000)
      await store.lanes.promote()
      const queue = { by: 'consumer', queue: 'default' } as const
      expect(await take(store, ['mail', 'news'], 9, queue)).toEqual([])
      const counts = await store.lanes.counts(['mail', 'news'])
      expect(counts).toMatchObject([
        { normal: 0, expired: 1 },
        { normal: 0, expired: 1 },
      ])
    })

    test('with clients at other nodes are reported to them', async ({ world }) => {
      const { store: here, log } = await listening(world)
      const there = await world.node()
      await submitOne(here, 'mail', { staleAtMs: (await nowOf(here)) + 1, foreground: true })
      await world.pass(10)
      expect(await take(there, ['mail'])).toEqual([])
      await log.waitFor('relayed')
    })
  })

  describe('locks', () => {
    test('refuse equal jobs until the job is done', async ({ store }) => {
      expect(await kindOf(store, lockFor(60_000))).toBe('created')
      expect(await kindOf(store, lockFor(60_000))).toBe('locked')
      const [, other] = await store.steps.submit('mail', [
        aJob({ lock: lockFor(60_000) }),
        aJob({ lock: { ...lockFor(60_000), key: 'other' } }),
      ])
      expect(other?.kind).toBe('created')
      const job = await takeOne(store, 'mail')
      expect(await kindOf(store, lockFor(60_000))).toBe('locked')
      await store.steps.finish('mail', [completed(job)])
      expect(await kindOf(store, lockFor(60_000))).toBe('created')
    })

    test('are released at the start if the job says so', async ({ store }) => {
      await kindOf(store, lockFor(60_000, 'start'))
      await takeOne(store, 'mail')
      expect(await kindOf(store, lockFor(60_000, 'start'))).toBe('created')
    })

    test.for([
      ['retried', (job: Parameters<typeof failed>[0]) => retried(job, 1_000)],
      ['failed', failed],
      ['killed', killed],
    ] as const)(
      'outlast a job that is %s, until they run out',
      async ([_name, outcome], { world, store }) => {
        await kindOf(store, lockFor(60_000))
        await store.steps.finish('mail', [outcome(await takeOne(store, 'mail'))])
        expect(await kindOf(store, lockFor(60_000))).toBe('locked')
        await world.pass(60_001)
        expect(await kindOf(store, lockFor(60_000))).toBe('created')
      },
    )

    test('that expired are not released by the job that held them', async ({ world, store }) => {
      await kindOf(store, lockFor(1_000))
      const job = await takeOne(store, 'mail')
      await world.pass(1_001)
      await kindOf(store, lockFor(60_000))
      await store.steps.finish('mail', [completed(job)])
      expect(await kindOf(store, lockFor(60_000))).toBe('locked')
    })

    test('of a scheduled job are held from when it is due', async ({ world, store }) => {
      const dueAtMs = (await nowOf(store)) + 100_000
      await store.steps.submit('mail', [aJob({ door: 'faktory', dueAtMs, lock: lockFor(1_000) })])
      await world.pass(50_000)
      expect(await kindOf(store, lockFor(1_000))).toBe('locked')
    })

    test('of a job that an operator removes are released', async ({ store }) => {
      await kindOf(store, lockFor(60_000))
      expect(await store.admin.cancel('mail', 1)).toBe(true)
      expect(await kindOf(store, lockFor(60_000))).toBe('created')
    })
  })
}
