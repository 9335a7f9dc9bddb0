import { describe, expect } from 'vitest'
import type { DroppedJob, NewJob } from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import {
  aJob,
  type ContractTests,
  copies,
  idsOf,
  listening,
  readOne,
  retried,
  seen,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

const nowOf = async (store: SteppedStore): Promise<number> => (await store.nodes.beat()).nowMs
const aged = async (store: SteppedStore, over: Partial<NewJob> = {}): Promise<Partial<NewJob>> => ({
  staleAtMs: (await nowOf(store)) + 10_000,
  diesStale: true,
  ...over,
})
const deadOf = async (store: SteppedStore): Promise<readonly number[]> =>
  (await store.inspect.setIds('mail', 'dead', 0, 9)).ids

/** Terms that a job has from its route. */
export function routedJobContract({ open, test }: ContractTests): void {
  describe('jobs that are too old', () => {
    test('are among the dead when a worker would get them, and can run again', async ({
      world,
      store,
    }) => {
      await submitOne(store, 'mail', await aged(store, { jid: 'aged-0001', door: 'faktory' }))
      await submitOne(store, 'mail')
      await world.pass(10_001)
      const all: DroppedJob[] = []
      const dropped = (job: DroppedJob): void => void all.push(job)
      const claim = { by: 'named', groups: [{ lanes: ['mail'] }], max: 9, dropped } as const
      expect(idsOf(await store.steps.claim(claim))).toEqual([2])
      expect(all).toEqual([{ lane: 'mail', id: 1, door: 'faktory', how: 'died' }])
      expect(await deadOf(store)).toEqual([1])
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({
        died: 1,
        expired: 0,
        dead: 1,
      })
      const record = (await seen(store, 'mail', 1)).failure ?? '{}'
      const { errtype, failed_at: at = '' } = JSON.parse(record) as Record<string, string>
      expect(errtype).toBe('Expired')
      expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(Math.abs(Date.parse(at) - (await nowOf(store)))).toBeLessThan(60_000)
      await store.queues.moveJobs('mail', 'dead', [1], 'queue')
      expect((await takeOne(store, 'mail')).id).toBe(1)
    })

    test('are ended at the head of their lanes without a worker', async ({ world }) => {
      const { store: here, log } = await listening(world)
      const there = await world.node()
      await submitOne(there, 'mail', await aged(here, { level: 9 }))
      await submitOne(here, 'mail', await aged(here, { foreground: true }))
      await submitOne(there, 'mail')
      await submitOne(there, 'mail', { staleAtMs: (await nowOf(there)) + 10_000 })
      await submitOne(there, 'news', { staleAtMs: (await nowOf(there)) + 20_000 })
      expect(await there.queues.endStale(['mail', 'news', 'none'], 9)).toEqual([])
      await world.pass(10_001)
      const ended = await there.queues.endStale(['mail', 'news', 'none'], 9)
      expect(ended.map(({ lane, id, door, how }) => `${lane} ${id} ${door} ${how}`)).toEqual([
        'mail 1 gearman died',
        'mail 2 gearman expired',
        'mail 4 gearman expired',
      ])
      await log.waitFor('relayed')
      expect(await deadOf(here)).toEqual([1])
      expect(await readOne(there, 'mail', 4)).toBeUndefined()
      expect(idsOf(await take(there, ['mail', 'news'], 9))).toEqual([3, 1])
      expect((await there.lanes.counts(['mail']))[0]).toMatchObject({ died: 1, expired: 2 })
    })

    test('are ended in pieces', async ({ world, store }) => {
      const terms = await aged(store)
      await store.steps.submit('mail', copies(5, terms))
      await world.pass(10_001)
      expect(await store.queues.endStale(['mail'], 3)).toHaveLength(3)
      expect(await store.queues.endStale(['mail'], 3)).toHaveLength(2)
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ normal: 0, dead: 5 })
    })
  })

  describe('jobs with a time of their own', () => {
    const timed = { isTimed: true, reserveForSeconds: 60 } as const

    test('are late at a by-name worker too', async ({ world, store }) => {
      await store.steps.submit('mail', [aJob(timed), aJob({ reserveForSeconds: 60 })])
      expect((await take(store, ['mail'], 9)).map(({ isTimed }) => isTimed)).toEqual([
        true,
        undefined,
      ])
      await world.pass(59_000)
      expect(await store.jobs.expired(['mail'], 9)).toEqual([])
      await world.pass(1_001)
      expect(idsOf(await store.jobs.expired(['mail'], 9))).toEqual([1])
    })

    test.each([
      [10_000, 10_000],
      [90_000, 60_000],
    ])('have the shorter of it and its worker’s %i ms', async (leaseMs, lastsMs) => {
      const world = await open()
      const store = await world.node()
      await submitOne(store, 'mail', timed)
      await takeOne(store, 'mail', { leaseMs })
      await world.pass(lastsMs - 1_000)
      expect(await store.jobs.expired(['mail'], 9)).toEqual([])
      await world.pass(1_001)
      expect(idsOf(await store.jobs.expired(['mail'], 9))).toEqual([1])
    })
  })

  test('the words for retries stay with a job', async ({ world, store }) => {
    await submitOne(store, 'mail', { backoff: 'linear 5 60' })
    const job = await takeOne(store, 'mail')
    expect(job.backoff).toBe('linear 5 60')
    await store.steps.finish('mail', [retried(job, 1_000)])
    await world.pass(1_001)
    await store.lanes.promote()
    expect((await takeOne(store, 'mail')).backoff).toBe('linear 5 60')
    expect((await store.jobs.look('mail', [1]))[0]?.backoff).toBe('linear 5 60')
  })
}
