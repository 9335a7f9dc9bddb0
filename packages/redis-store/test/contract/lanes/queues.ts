import { describe, expect } from 'vitest'
import type { Level } from '@crossgear/core-scheduler'
import {
  aJob,
  allCompleted,
  bytes,
  completed,
  type ContractTests,
  copies,
  fetch,
  idsOf,
  inputsOf,
  jobsOf,
  namesOf,
  pushNative,
  requeued,
  submitAll,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

/** Order: ids, levels, lanes as one line. */
export function queueContract({ test }: ContractTests): void {
  describe('queues', () => {
    test('ids of a lane count from 1, whichever node submits the job', async ({ world }) => {
      const [a, b] = [await world.node(), await world.node()]
      expect(await submitAll(a, 'mail', [aJob(), aJob()])).toEqual([1, 2])
      expect(await submitOne(b, 'mail')).toBe(3)
      expect(await submitOne(b, 'sms')).toBe(1)
    })

    test('a job is read back exactly as it was submitted', async ({ store }) => {
      const job = {
        input: bytes('in'),
        door: 'faktory',
        level: 9,
        unique: Buffer.from([0, 255, 44]),
        reducer: bytes('sum'),
        jid: 'j-1',
        envelope: '{"jid":"j-1"}',
        retries: -1,
        reserveForSeconds: 60,
        retentionSeconds: 5,
        trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      } as const
      const traced = { trace: job.trace }
      await store.steps.submit('mail', [{ ...job, foreground: false }, aJob(), aJob(traced)])
      const [full, plain, followed] = await store.jobs.read('mail', [1, 2, 3])
      expect(followed).toMatchObject(traced)
      expect(full).toMatchObject({ ...job, lane: 'mail', id: 1, status: 'idle', waiting: 0 })
      expect(Object.keys(plain ?? {}).sort()).toEqual(
        'door enqueuedAtMs foreground id input lane level losses settled status waiting'.split(' '),
      )
      expect(await store.jobs.read('mail', [4])).toEqual([undefined])
    })

    test('a read returns all but the payload, and the output of a job that has ended', async ({
      store,
    }) => {
      const long = Buffer.alloc(100_000, 'x')
      const terms = { level: 9, jid: 'j-1', unique: bytes('u'), retries: 2 } as const
      const kept = { envelope: '{"jid":"j-1"}', retentionSeconds: 60 }
      await store.steps.submit('mail', [
        aJob({ ...terms, ...kept, input: long }),
        aJob({ input: long }),
      ])
      const job = await takeOne(store, 'mail')
      const [busy, idle, none] = await store.jobs.look('mail', [1, 2, 3], ['envelope', 'output'])
      expect(busy).toMatchObject({ ...terms, envelope: kept.envelope, token: job.token })
      expect(idle).toMatchObject({ lane: 'mail', id: 2, status: 'idle', level: 5, waiting: 0 })
      expect(none).toBeUndefined()
      await store.steps.finish('mail', [completed(job, 'done')])
      const [ended] = await store.jobs.look('mail', [1], ['output'])
      expect(ended).toMatchObject({ status: 'success', settled: true, output: bytes('done') })
      const [bare] = await store.jobs.look('mail', [1])
      for (const state of [busy, idle, ended]) expect(state).not.toHaveProperty('input')
      for (const state of [busy, idle, bare]) expect(state).not.toHaveProperty('output')
      for (const state of [ended, bare]) expect(state).not.toHaveProperty('envelope')
    })

    test('the highest level is first, and within a level the oldest, whatever the order of arrival', async ({
      store,
    }) => {
      const levels: Level[] = [7, 8, 9, 5, 6, 4, 9, 2, 3, 1, 8, 7, 5, 6, 4, 1, 2, 3, 9, 5]
      await store.steps.submit('mail', jobsOf(...levels.slice(0, 9)))
      for (const job of jobsOf(...levels).slice(9)) await store.steps.submit('mail', [job])
      const expected = levels.map((level, at) => ({ level, at }))
      expected.sort((one, other) => other.level - one.level || one.at - other.at)
      const taken = [...(await take(store, ['mail'], 7)), ...(await take(store, ['mail'], 99))]
      expect(inputsOf(taken)).toEqual(expected.map(({ level, at }) => `${level}-${at}`))
    })

    test('levels stay in order when jobs come and go in turn', async ({ store }) => {
      await store.steps.submit('mail', jobsOf(7, 9, 8, 7))
      expect(inputsOf(await take(store, ['mail'], 2))).toEqual(['9-1', '8-2'])
      await store.steps.submit('mail', jobsOf(8, 9, 7, 8))
      expect(inputsOf(await take(store, ['mail'], 9))).toEqual([
        '9-1',
        '8-0',
        '8-3',
        '7-0',
        '7-3',
        '7-2',
      ])
    })

    test('a native push and a native pop between levels lose no order among the others', async ({
      world,
      store,
    }) => {
      await store.steps.submit('mail', jobsOf(9, 7, 7))
      await pushNative(world, 'mail', 'high', bytes('native'))
      expect(await world.native.take('mail')).toBe(1)
      await store.steps.submit('mail', jobsOf(8, 9, 7))
      const inputs = inputsOf(await take(store, ['mail'], 9))
      expect(inputs.filter((input) => input !== 'native')).toEqual([
        '9-1',
        '8-0',
        '7-1',
        '7-2',
        '7-2',
      ])
      expect(inputs).toContain('native')
    })

    test('a job given back goes behind its own level and before the next', async ({ store }) => {
      await store.steps.submit('mail', jobsOf(8, 8, 7, 9))
      const [nine, eight] = await take(store, ['mail'], 2)
      if (!nine || !eight) throw new Error('nothing taken')
      expect(await store.steps.finish('mail', [requeued(eight), requeued(nine)])).toEqual([
        'requeued',
        'requeued',
      ])
      expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['9-3', '8-1', '8-0', '7-2'])
    })

    test('a native job given back goes to the band it came from', async ({ world, store }) => {
      for (const band of ['low', 'high'] as const) {
        await pushNative(world, 'mail', band, bytes(band))
      }
      const both = await take(store, ['mail'], 2)
      await store.steps.finish(
        'mail',
        both.map((job) => requeued(job)),
      )
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ high: 1, normal: 0, low: 1 })
    })

    test('lanes of one request form one queue: the highest level, there the oldest job', async ({
      world,
      store,
    }) => {
      const line: [string, Level][] = [
        ['mail', 5],
        ['sms', 5],
        ['fax', 8],
        ['sms', 6],
        ['mail', 5],
        ['fax', 2],
        ['mail', 9],
        ['sms', 2],
      ]
      for (const [at, [lane, level]] of line.entries()) {
        await submitOne(store, lane, { level, input: bytes(String(at)) })
        await world.pass(2)
      }
      const lanes = ['mail', 'sms', 'fax']
      const expected = ['6', '2', '3', '0', '1', '4', '5', '7']
      expect(inputsOf(await take(store, lanes, 3))).toEqual(expected.slice(0, 3))
      expect(inputsOf(await fetch(store, 'default', lanes, 2))).toEqual(expected.slice(3, 5))
      expect(inputsOf(await fetch(store, 'default', lanes))).toEqual(['4'])
      expect(inputsOf(await take(store, lanes, 9))).toEqual(['5', '7'])
    })

    test('groups of one request are served in their order, whatever their levels', async ({
      store,
    }) => {
      await submitOne(store, 'mail', { level: 1 })
      await submitOne(store, 'sms', { level: 9 })
      const groups = [{ lanes: ['mail'] }, { lanes: ['none'] }, { lanes: ['sms'] }]
      expect(namesOf(await store.steps.claim({ by: 'named', groups, max: 3 }))).toEqual([
        'mail:1',
        'sms:1',
      ])
      expect(await store.steps.claim({ by: 'named', groups: [{ lanes: [] }], max: 3 })).toEqual([])
    })

    test('a native job of one lane is not starved by those of another', async ({
      world,
      store,
    }) => {
      await pushNative(world, 'sms', 'normal', bytes('native'))
      await store.lanes.heal(['sms'])
      const seen: string[] = []
      for (let round = 0; round < 4; round += 1) {
        await submitOne(store, 'mail')
        await submitOne(store, 'mail')
        seen.push(...namesOf(await fetch(store, 'default', ['mail', 'sms'])))
        await world.pass(5)
      }
      expect(seen).toContain('sms:1')
    })

    test('a consumer finds an unannounced native push once the lanes are healed', async ({
      world,
      store,
    }) => {
      await submitOne(store, 'mail')
      await pushNative(world, 'sms', 'high', bytes('native'))
      await store.lanes.heal(['fax', 'mail', 'sms'])
      const found = namesOf(await fetch(store, 'default', ['mail', 'sms'], 2))
      expect(found).toEqual(['sms:1', 'mail:1'])
    })

    test('a native push above the known level of a lane moves it up, once healed', async ({
      world,
      store,
    }) => {
      await submitOne(store, 'sms', { level: 2 })
      await submitOne(store, 'mail')
      await pushNative(world, 'sms', 'high', bytes('native'))
      await store.lanes.heal(['mail', 'sms'])
      const order = namesOf(await fetch(store, 'default', ['mail', 'sms'], 9))
      expect(order).toEqual(['sms:2', 'mail:1', 'sms:1'])
    })

    test('a consumer finds a native push in a lane known not to be empty', async ({
      world,
      store,
    }) => {
      await pushNative(world, 'sms', 'normal', bytes('native'))
      expect(await store.lanes.nonEmpty(['mail', 'sms', 'fax'])).toEqual(['sms'])
      expect(namesOf(await fetch(store, 'default', ['mail', 'sms'], 2))).toEqual(['sms:1'])
    })

    test('an unannounced native pop leaves the rest in order', async ({ world, store }) => {
      await submitOne(store, 'mail', { level: 9 })
      await submitOne(store, 'sms', { level: 7 })
      await submitOne(store, 'mail', { level: 5 })
      expect(await world.native.take('mail')).toBe(1)
      expect(namesOf(await fetch(store, 'default', ['mail', 'sms'], 9))).toEqual([
        'sms:1',
        'mail:2',
      ])
      expect(await fetch(store, 'default', ['mail', 'sms'])).toEqual([])
    })

    test('a consumer finds a job given back in a lane that was empty', async ({ store }) => {
      await submitOne(store, 'mail')
      await submitOne(store, 'sms')
      const job = await takeOne(store, 'mail')
      expect(namesOf(await fetch(store, 'default', ['mail', 'sms'], 2))).toEqual(['sms:1'])
      await store.steps.finish('mail', [requeued(job)])
      expect(namesOf(await fetch(store, 'default', ['mail', 'sms'], 2))).toEqual(['mail:1'])
    })

    test('two workers never get one job', async ({ world }) => {
      const [a, b] = [await world.node(), await world.node()]
      const ids = await submitAll(a, 'mail', copies(40))
      const taken = await Promise.all(
        Array.from({ length: 20 }, (_none, at) => take(at % 2 === 0 ? a : b, ['mail'], 3)),
      )
      expect(idsOf(taken.flat()).sort((one, other) => one - other)).toEqual(ids)
      expect(new Set(taken.flat().map(({ token }) => token)).size).toBe(40)
    })

    test('maxqueue refuses what is over a band’s limit and counts the running ones', async ({
      world,
      store,
    }) => {
      await world.limit('mail', { normal: 2, low: 3 })
      expect(await submitAll(store, 'mail', jobsOf(5, 5, 5, 2, 2))).toEqual([1, 2, 0, 3, 0])
      expect(await submitAll(store, 'mail', jobsOf(8, 8))).not.toContain(0)
      const running = await take(store, ['mail'], 9)
      expect(await submitAll(store, 'mail', jobsOf(5))).toEqual([0])
      await store.steps.finish('mail', allCompleted(running))
      expect(await submitAll(store, 'mail', jobsOf(5))).not.toContain(0)
    })

    test('counts show the jobs of each state and their outcomes', async ({ store }) => {
      await store.steps.submit('mail', [...jobsOf(9, 8, 5, 3), aJob({ dueAtMs: 9e15 })])
      const taken = await take(store, ['mail'], 2)
      await store.steps.finish('mail', allCompleted(taken.slice(0, 1)))
      expect(await store.lanes.counts(['mail', 'none'])).toMatchObject([
        {
          lane: 'mail',
          high: 0,
          normal: 1,
          low: 1,
          running: 1,
          scheduled: 1,
          dead: 0,
          submitted: 5,
        },
        { lane: 'none', high: 0, normal: 0, low: 0, running: 0, scheduled: 0, submitted: 0 },
      ])
      const empty = { high: 0, normal: 0, low: 0, running: 0, scheduled: 0, dead: 0, workers: 0 }
      expect(await store.lanes.sizes(['mail', 'none'])).toEqual([
        { ...empty, lane: 'mail', normal: 1, low: 1, running: 1, scheduled: 1 },
        { ...empty, lane: 'none' },
      ])
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({
        completed: 1,
        failed: 0,
        retried: 0,
      })
      expect(await store.lanes.nonEmpty(['none', 'mail'])).toEqual(['mail'])
    })
  })
}
