import { describe, expect } from 'vitest'
import type { JobSet, SetExit } from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import {
  idsOf,
  killed,
  listening,
  namesOf,
  readOne,
  retried,
  seen,
  submitOne,
  take,
  takeOne,
  type ContractTests,
  completed,
} from '../kit.ts'

const farAheadMs = 4_000_000_000_000

/** Jobs 1 and 2 scheduled, 3 and 4 to be retried, 5 and 6 dead, 7 queued. */
async function filled(store: SteppedStore): Promise<void> {
  for (let id = 1; id <= 2; id += 1) {
    await submitOne(store, 'mail', { dueAtMs: farAheadMs, jid: `scheduled-${id}` })
  }
  for (let id = 3; id <= 6; id += 1) {
    await submitOne(store, 'mail', { jid: `failed-${id}`, door: 'faktory' })
    const job = await takeOne(store, 'mail')
    await store.steps.finish('mail', [id <= 4 ? retried(job, 60_000) : killed(job)])
  }
  await submitOne(store, 'mail', { jid: 'queued-7' })
}

const members = async (store: SteppedStore, set: JobSet): Promise<readonly number[]> => {
  const { ids } = await store.inspect.setIds('mail', set, 0, 100)
  return [...ids].sort((one, other) => one - other)
}

/** Faktory queues, and the sets of jobs that are not queued. */
export function setContract({ open, test }: ContractTests): void {
  describe('sets', () => {
    test('list their members page by page', async ({ store }) => {
      await filled(store)
      expect(await members(store, 'scheduled')).toEqual([1, 2])
      expect(await members(store, 'retries')).toEqual([3, 4])
      expect(await members(store, 'dead')).toEqual([5, 6])
      const page = await store.inspect.setIds('mail', 'dead', 1, 1)
      expect(page).toMatchObject({ ids: [6], seen: 1 })
      expect((await store.inspect.setIds('mail', 'dead', 2, 1)).seen).toBe(0)
    })

    test('have the records of the last failures, in the order that is asked for', async ({
      store,
    }) => {
      await filled(store)
      const records = await store.inspect.failures('mail', [6, 7, 3, 9])
      expect(records.map((record) => record !== undefined)).toEqual([true, false, true, false])
    })

    test.each(['scheduled', 'retries', 'dead'] as const)(
      'tell when their members of any lane are due or dropped: %s',
      async (set) => {
        const world = await open()
        const store = await world.node()
        for (const [at, lane] of ['mail', 'sms', 'mail'].entries()) {
          await submitOne(store, lane, {
            door: 'faktory',
            ...(set === 'scheduled' && { dueAtMs: farAheadMs + 1_000 * at }),
          })
          const job = set === 'scheduled' ? undefined : await takeOne(store, lane)
          if (job) {
            const outcome = set === 'retries' ? retried(job, 60_000 + 1_000 * at) : killed(job)
            await store.steps.finish(lane, [outcome])
            await world.pass(1_000)
          }
        }
        const mail = await store.inspect.setIds('mail', set, 0, 9)
        const sms = await store.inspect.setIds('sms', set, 0, 9)
        expect([mail.ids, sms.ids]).toEqual([[1, 2], [1]])
        const [first = 0, last = 0] = mail.times
        const [middle = 0] = sms.times
        expect([first < middle, middle < last]).toEqual([true, true])
      },
    )

    test.for([
      ['scheduled', [1, 2]],
      ['retries', [3, 4]],
      ['dead', [5, 6]],
    ] as const)('jobs of %s go to the queue, and no others', async ([set, ids], { store }) => {
      await filled(store)
      expect(await store.queues.moveJobs('mail', set, [1, 2, 3, 4, 5, 6, 7, 8], 'queue')).toEqual(
        ids,
      )
      expect(await members(store, set)).toEqual([])
      const taken = await take(store, ['mail'], 9, { by: 'consumer', queue: 'default' })
      expect(idsOf(taken).sort((one, other) => one - other)).toEqual([...ids, 7])
    })

    test.each([
      ['scheduled', 'deleted', 1],
      ['retries', 'deleted', 3],
      ['dead', 'deleted', 5],
    ] as const)('a job of %s goes %s', async (set: JobSet, to: SetExit, id: number) => {
      const store = await (await open()).node()
      await filled(store)
      const jid = (await seen(store, 'mail', id)).jid ?? ''
      expect(await store.queues.moveJobs('mail', set, [id], to)).toEqual([id])
      expect(await readOne(store, 'mail', id)).toBeUndefined()
      expect(await store.jobs.findJid(jid)).toBeUndefined()
    })

    test.for([
      ['scheduled', 1],
      ['retries', 3],
    ] as const)('a job of %s goes to the dead', async ([set, id], { store }) => {
      await filled(store)
      expect(await store.queues.moveJobs('mail', set, [id], 'dead')).toEqual([id])
      expect(await members(store, 'dead')).toEqual([id, 5, 6])
      expect(await seen(store, 'mail', id)).toMatchObject({ status: 'error', settled: true })
    })

    test('jobs are ended in place', async ({ store }) => {
      await filled(store)
      await submitOne(store, 'mail', { level: 9 })
      await takeOne(store, 'mail')
      expect(await store.queues.endJobs('mail', ['high', 'normal', 'low'], 100)).toEqual([7])
      expect(await store.queues.endJobs('mail', ['scheduled', 'dead', 'busy'], 3)).toHaveLength(3)
      expect(await store.queues.endJobs('mail', ['scheduled', 'dead', 'busy'], 100)).toHaveLength(4)
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({
        high: 0,
        normal: 0,
        low: 0,
        scheduled: 0,
        retrying: 0,
        dead: 0,
        running: 0,
      })
    })

    test('the oldest of the next jobs is known', async ({ world, store }) => {
      await submitOne(store, 'mail')
      await world.pass(1_000)
      for (const level of [5, 9, 1] as const) await submitOne(store, 'mail', { level })
      const { enqueuedAtMs } = await seen(store, 'mail', 1)
      expect(await store.queues.oldest(['mail', 'empty'])).toEqual([enqueuedAtMs, undefined])
      const since = async (withOldest?: boolean): Promise<unknown> =>
        (await store.lanes.counts(['mail', 'empty'], withOldest)).map(({ oldestMs }) => oldestMs)
      expect(await since(true)).toEqual([enqueuedAtMs, undefined])
      expect(await since()).toEqual([undefined, undefined])
    })

    test('the counts of several lanes are each of its own jobs, by state', async ({ store }) => {
      await filled(store)
      await submitOne(store, 'mail', { level: 9 })
      await submitOne(store, 'mail', { level: 2 })
      await submitOne(store, 'other')
      await takeOne(store, 'other')
      const lanes = ['empty', 'mail', 'other', 'none']
      const counts = await store.lanes.counts(lanes, true)
      expect(counts.map(({ lane }) => lane)).toEqual(lanes)
      expect(counts[1]).toMatchObject({
        high: 1,
        normal: 1,
        low: 1,
        running: 0,
        scheduled: 4,
        retrying: 2,
        dead: 2,
      })
      expect(counts[1]?.oldestMs).toBe((await store.queues.oldest(['mail']))[0])
      expect(counts[2]).toMatchObject({ normal: 0, running: 1, oldestMs: undefined })
    })

    test('a removed lane is marked until a job comes, in any way', async ({ world, store }) => {
      const isRemoved = async (): Promise<boolean | undefined> =>
        (await store.lanes.counts(['mail']))[0]?.isRemoved
      await submitOne(store, 'mail')
      await store.queues.markRemoved('mail')
      expect(await isRemoved()).toBe(false)
      const soonMs = (await store.nodes.beat()).nowMs + 1_000
      await submitOne(store, 'mail', { dueAtMs: soonMs })
      await takeOne(store, 'mail')
      await store.queues.markRemoved('mail')
      expect(await isRemoved()).toBe(true)
      await world.pass(1_001)
      await store.lanes.promote()
      expect(await isRemoved()).toBe(false)
      await takeOne(store, 'mail')
      expect(await isRemoved()).toBe(false)
      await store.queues.markRemoved('mail')
      expect(await isRemoved()).toBe(true)
      await submitOne(store, 'mail')
      await takeOne(store, 'mail')
      expect(await isRemoved()).toBe(false)
    })

    test('totals count what was due and what failed, and begin again with the jobs that stand', async ({
      world,
      store,
    }) => {
      const soonMs = (await store.nodes.beat()).nowMs + 1_000
      await submitOne(store, 'mail', { dueAtMs: soonMs, door: 'faktory' })
      await submitOne(store, 'mail', { door: 'faktory' })
      await store.steps.finish('mail', [retried(await takeOne(store, 'mail'), 500)])
      await world.pass(1_001)
      await store.lanes.promote()
      const [before] = await store.lanes.counts(['mail'])
      expect(before).toMatchObject({ submitted: 2, retried: 1, promoted: 1, requeued: 1 })
      await store.queues.resetTotals('mail')
      const [after] = await store.lanes.counts(['mail'])
      expect(after).toMatchObject({ submitted: 2, retried: 0, promoted: 0, requeued: 0, normal: 2 })
    })

    test('pauses are known at every node', async ({ world }) => {
      const { store: here, log: ownLog } = await listening(world)
      const { store: there, log } = await listening(world)
      const areHeard = async (): Promise<void> => {
        for (const one of [ownLog, log]) await one.waitFor('pausesChanged')
        for (const one of [ownLog, log]) one.clear()
      }
      await here.queues.setPaused(['bulk', 'default'], true)
      await areHeard()
      expect([...(await there.queues.pausedQueues())].sort()).toEqual(['bulk', 'default'])
      await there.queues.setPaused(['bulk'], false)
      await areHeard()
      expect(await here.queues.pausedQueues()).toEqual(['default'])
      await here.queues.setFunctionsPaused(['mail', 'sms@bulk'], true)
      await areHeard()
      expect([...(await there.queues.pausedFunctions())].sort()).toEqual(['mail', 'sms@bulk'])
      await there.queues.setFunctionsPaused(['mail'], false)
      await areHeard()
      expect(await here.queues.pausedFunctions()).toEqual(['sms@bulk'])
      expect(await here.queues.pausedQueues()).toEqual(['default'])
    })

    test('who paused what, and when, is known at every node until it is resumed', async ({
      world,
    }) => {
      const { store: here } = await listening(world)
      const there = await world.node()
      await here.queues.setPaused(['mail'], true, { who: 'oscar le grand', atMs: 1_000.5 })
      await here.queues.setFunctionsPaused(['mail', 'sms@bulk'], true, { who: 'eve', atMs: 2_000 })
      expect([...(await there.queues.pauseNotes())].sort()).toEqual([
        ['function:mail', { who: 'eve', atMs: 2_000 }],
        ['function:sms@bulk', { who: 'eve', atMs: 2_000 }],
        ['queue:mail', { who: 'oscar le grand', atMs: 1_000 }],
      ])
      await there.queues.setFunctionsPaused(['mail'], false)
      await there.queues.setPaused(['mail'], false)
      // A pause that nobody signed leaves no name of somebody else.
      await there.queues.setFunctionsPaused(['sms@bulk'], true)
      expect([...(await here.queues.pauseNotes())]).toEqual([])
    })

    test('a claim takes no jobs of paused lanes, and takes them again when they are resumed', async ({
      store,
    }) => {
      const lanes = ['mail', 'sms', 'fax']
      for (const lane of lanes) await submitOne(store, lane)
      const claim = (...paused: readonly string[]) =>
        store.steps.claim({
          by: 'consumer',
          access: 'auto',
          max: 9,
          paused: new Set(paused),
          groups: [{ lanes, queue: 'default' }],
        })
      expect(namesOf(await claim('mail', 'fax'))).toEqual(['sms:1'])
      expect(await claim('mail', 'fax')).toEqual([])
      await store.lanes.heal(['mail', 'fax'])
      expect(namesOf(await claim())).toEqual(['mail:1', 'fax:1'])
    })

    test("a claim of one lane, or of a consumer's named functions, takes no jobs of paused lanes", async () => {
      const store = await (await open()).node()
      for (const lane of ['mail', 'sms']) await submitOne(store, lane)
      const request = { by: 'consumer', max: 9, paused: new Set(['mail', 'elsewhere']) } as const
      const groups = [{ lanes: ['mail'], queue: 'default' }]
      expect(await store.steps.claim({ ...request, access: 'auto', groups })).toEqual([])
      const named = [{ lanes: ['mail', 'sms'] }]
      const taken = await store.steps.claim({ ...request, access: 'any', groups: named })
      expect(namesOf(taken)).toEqual(['sms:1'])
    })

    test.each(['quiet', 'alive', 'back', 'gone', { settled: 'a \0 jid' }] as const)(
      'news of a worker reach every node: %j',
      async (news) => {
        const world = await open()
        const here = await listening(world)
        const there = await listening(world)
        await here.store.queues.notifyOfConsumer('worker-1', news)
        for (const { log } of [here, there]) {
          expect(await log.waitFor('consumerNews')).toMatchObject({ wid: 'worker-1', news })
        }
      },
    )

    test('a note on a job without a holder is kept while it is queued, runs and is finished', async ({
      store,
    }) => {
      await submitOne(store, 'mail', { door: 'faktory', retentionSeconds: 60 })
      const noteds = async (percent: number): Promise<unknown[]> => {
        const text = `at ${percent}`
        const known = await store.queues.note({ lane: 'mail', id: 1 }, undefined, { text, percent })
        const { note, dividend, divisor } = await seen(store, 'mail', 1)
        return [known, note, dividend?.toString(), divisor?.toString()]
      }
      expect(await noteds(7)).toEqual([true, 'at 7', '7', '100'])
      const job = await takeOne(store, 'mail')
      expect(await noteds(50)).toEqual([true, 'at 50', '50', '100'])
      await store.steps.finish('mail', [completed(job)])
      expect(await seen(store, 'mail', 1)).toMatchObject({ note: 'at 50', status: 'success' })
      expect(await noteds(99)).toEqual([true, 'at 99', '99', '100'])
      expect(await store.queues.note({ lane: 'mail', id: 2 }, undefined, { text: 'x' })).toBe(false)
      expect(await store.jobs.read('mail', [2])).toEqual([undefined])
    })

    test('the holder of a job can store a note on it', async ({ store }) => {
      await submitOne(store, 'mail')
      const job = await takeOne(store, 'mail')
      expect(await store.queues.note(job, job.token, { text: 'half way' })).toBe(true)
      expect(await store.queues.note(job, 'another', { text: 'stolen' })).toBe(false)
      expect(await store.queues.note(job, job.token, { reserveUntilMs: farAheadMs })).toBe(true)
      const { note, notedAtMs } = await seen(store, 'mail', 1)
      expect(note).toBe('half way')
      expect(notedAtMs).toBeGreaterThan(0)
    })

    test('a note can extend a lease and not shorten it', async () => {
      const world = await open({ reserveForSeconds: 100 })
      const store = await world.node()
      await submitOne(store, 'mail')
      const job = await takeOne(store, 'mail', { by: 'consumer' })
      const reserve = async (forMs: number): Promise<void> => {
        const { nowMs } = await store.nodes.beat()
        const note = { reserveUntilMs: nowMs + forMs }
        expect(await store.queues.note(job, job.token, note)).toBe(true)
      }
      await reserve(50_000)
      await reserve(-50_000)
      await world.pass(90_000)
      expect(await store.jobs.expired(['mail'], 9)).toEqual([])
      await reserve(50_000)
      await reserve(5_000)
      await world.pass(40_000)
      expect(await store.jobs.expired(['mail'], 9)).toEqual([])
      await world.pass(20_000)
      expect(await store.jobs.expired(['mail'], 9)).toHaveLength(1)
    })

    test('a finished job that is kept is found by its jid', async ({ store }) => {
      await submitOne(store, 'mail', { jid: 'kept-0001', retentionSeconds: 60 })
      await submitOne(store, 'mail', { jid: 'gone-0001' })
      for (let run = 0; run < 2; run += 1) {
        const { lane, id, token } = await takeOne(store, 'mail')
        await store.steps.finish('mail', [
          { lane, id, token, kind: 'complete', output: Buffer.from('x') },
        ])
      }
      expect(await store.queues.findFinished('kept-0001')).toEqual({ lane: 'mail', id: 1 })
      expect(await store.queues.findFinished('gone-0001')).toBeUndefined()
    })
  })
}
