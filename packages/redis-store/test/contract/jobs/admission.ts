import { describe, expect } from 'vitest'
import type { Admission, NewJob } from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import { aJob, allCompleted, bytes, type ContractTests, take } from '../kit.ts'

const unattended: Admission = { needsWorker: true }

async function kindsOf(
  store: SteppedStore,
  lane: string,
  admissions: readonly (Admission | undefined)[],
  over: Partial<NewJob> = {},
): Promise<readonly string[]> {
  const jobs = admissions.map((admission) => aJob({ ...over, ...(admission && { admission }) }))
  return (await store.steps.submit(lane, jobs)).map(({ kind }) => kind)
}

const kindOf = async (
  store: SteppedStore,
  lane: string,
  admission: Admission,
  over: Partial<NewJob> = {},
): Promise<string | undefined> => (await kindsOf(store, lane, [admission], over))[0]

async function count(
  store: SteppedStore,
  lane: string,
  named: number,
  consumers = 0,
  labelled = 0,
): Promise<void> {
  await store.lanes.setWorkers(new Map([[lane, { named, consumers, labelled }]]))
}

/** Conditions on which a job is taken. */
export function admissionContract({ open, test }: ContractTests): void {
  describe('jobs that are taken only while few wait', () => {
    test('are refused from the bound on, within one step too; others are not', async ({
      store,
    }) => {
      const bound: Admission = { maxWaiting: 2 }
      expect(await kindsOf(store, 'mail', [bound, bound, bound, undefined])).toEqual([
        'created',
        'created',
        'full',
        'created',
      ])
      expect(await kindOf(store, 'mail', bound, { level: 9 })).toBe('full')
      expect(await kindOf(store, 'mail', { maxWaiting: 4 })).toBe('created')
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ normal: 4, submitted: 4 })
    })

    test('do not count those that run, or are due later', async ({ store }) => {
      const bound: Admission = { maxWaiting: 1 }
      await store.steps.submit('mail', [aJob({ dueAtMs: 9e15 }), aJob()])
      const running = await take(store, ['mail'], 9)
      expect(running).toHaveLength(1)
      expect(await kindsOf(store, 'mail', [bound, bound])).toEqual(['created', 'full'])
      expect(await kindOf(store, 'mail', bound, { dueAtMs: 9e15 })).toBe('created')
      await store.steps.finish('mail', allCompleted(running))
      expect(await kindOf(store, 'mail', bound)).toBe('full')
      await take(store, ['mail'])
      expect(await kindOf(store, 'mail', bound)).toBe('created')
    })

    test('join others all the same', async ({ store }) => {
      const bound: Admission = { maxWaiting: 1 }
      const unique = bytes('one of a kind')
      expect(await kindOf(store, 'mail', bound, { unique })).toBe('created')
      expect(await kindOf(store, 'mail', bound, { unique })).toBe('joined')
      expect(await kindOf(store, 'mail', bound)).toBe('full')
    })

    test('count those of unusual levels, and of the lanes that are named', async ({ store }) => {
      const jobs = Array.from({ length: 300 }, (_none, at) => aJob({ level: at % 2 ? 9 : 7 }))
      await store.steps.submit('mail', jobs)
      expect(await kindOf(store, 'mail', { maxWaiting: 300 })).toBe('full')
      expect(await kindOf(store, 'mail', { maxWaiting: 301 })).toBe('created')
      if (store.isSharded) return
      expect(await kindOf(store, 'mail@bulk', { maxWaiting: 301 })).toBe('created')
      expect(await kindOf(store, 'mail@bulk', { maxWaiting: 302, lanes: ['mail'] })).toBe('full')
      expect(await kindOf(store, 'mail@bulk', { maxWaiting: 303, lanes: ['mail'] })).toBe('created')
    })
  })

  describe('jobs that are taken only while a worker is there', () => {
    test('are refused without one, and taken with one of any node', async ({ world, store }) => {
      expect(await kindOf(store, 'mail', unattended)).toBe('unattended')
      expect(await kindOf(store, 'mail', unattended, { dueAtMs: 9e15 })).toBe('created')
      const other = await world.node()
      await count(other, 'mail', 1)
      expect(await kindsOf(store, 'mail', [unattended, unattended])).toEqual(['created', 'created'])
      await count(other, 'mail', 0)
      expect(await kindsOf(store, 'mail', [unattended, undefined])).toEqual([
        'unattended',
        'created',
      ])
    })

    test('are taken while a native worker is there', async ({ world, store }) => {
      await world.native.count('mail', 1)
      expect(await kindOf(store, 'mail', unattended)).toBe('created')
      await world.native.count('mail', -1)
      expect(await kindOf(store, 'mail', unattended)).toBe('unattended')
    })

    test('are taken while a consumer is there that may get them', async ({ store }) => {
      await count(store, 'mail', 0, 1)
      expect(await kindOf(store, 'mail', unattended)).toBe('created')
      await store.lanes.close('mail')
      expect(await kindOf(store, 'mail', unattended)).toBe('unattended')
      await count(store, 'mail', 0, 1, 1)
      expect(await kindOf(store, 'mail', unattended)).toBe('created')
    })

    test('are refused while consumers get nothing by the automatic rule', async () => {
      const world = await open({ bridge: 'routed' })
      const store = await world.node()
      await count(store, 'mail', 0, 1)
      expect(await kindOf(store, 'mail', unattended)).toBe('unattended')
      await store.lanes.open('mail')
      expect(await kindOf(store, 'mail', unattended)).toBe('created')
    })
  })
}
