import { describe, expect } from 'vitest'
import {
  functionLimit,
  searchedBytes,
  startedBytes,
  type JobPlace,
} from '@crossgear/core-scheduler'
import {
  aJob,
  allCompleted,
  bytes,
  type ContractTests,
  copies,
  jobsOf,
  killed,
  readOne,
  submitAll,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'
import type { SteppedStore } from '../store-world.ts'

const unique = bytes('one of a kind')

/** Jobs as an operator sees them. */
export function inspectContract({ open, test }: ContractTests): void {
  describe('an operator looks at jobs', () => {
    const idsAt = async (store: SteppedStore, place: JobPlace, from = 0, count = 10) => {
      const { jobs, ...rest } = await store.inspect.page({ lane: 'mail', place, from, count })
      return { ids: jobs.map(({ id }) => id), ...rest }
    }

    test('in pieces of a queue, the next job first', async ({ store }) => {
      await submitAll(store, 'mail', [aJob(), aJob(), aJob()])
      const whole = { seen: 2, unsearched: 0, more: true }
      expect(await idsAt(store, 'normal', 0, 2)).toEqual({ ids: [1, 2], ...whole })
      expect(await idsAt(store, 'normal', 2, 2)).toEqual({
        ids: [3],
        seen: 1,
        unsearched: 0,
        more: false,
      })
      expect(await idsAt(store, 'high')).toMatchObject({ ids: [], more: false })
    })

    test('that are queued outside the list of their band as well', async ({ store }) => {
      const many = copies(1_000, { level: 6 })
      await submitAll(store, 'mail', [aJob(), ...many])
      const found: number[] = []
      for (let from = 0, more = true; more; from += 300) {
        const page = await idsAt(store, 'normal', from, 300)
        found.push(...page.ids)
        more = page.more
      }
      expect(found.sort((a, b) => a - b)).toEqual(Array.from({ length: 1_001 }, (_, at) => at + 1))
    })

    test('a lane says its workers, its openness and its next job', async () => {
      const world = await open({ graceMs: 60_000 })
      const store = await world.node()
      await submitOne(store, 'mail')
      await submitOne(store, 'mail', { level: 8 })
      await submitOne(store, 'sms')
      const mail = { lane: 'mail', ids: [1] }
      const none = { namedWorkers: 0, consumers: 0, workers: 0 }
      expect(await store.inspect.waits([mail, { lane: 'sms', ids: [] }])).toEqual([
        { openness: 'auto', ...none, nextId: 2, jobs: [{}] },
        { openness: 'auto', ...none, nextId: 1, jobs: [] },
      ])
      await store.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 3 }]]))
      const [worked] = await store.inspect.waits([mail])
      expect(worked).toMatchObject({
        openness: 'closed',
        namedWorkers: 1,
        consumers: 3,
        workers: 1,
      })
      await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 3 }]]))
      await world.pass(5_000)
      const { nowMs } = await store.nodes.beat()
      const [left] = await store.inspect.waits([mail])
      expect(left).toMatchObject({ openness: 'closed', namedWorkers: 0, consumers: 3, workers: 0 })
      const awayMs = nowMs - (left?.workerSeenMs ?? 0)
      expect(awayMs).toBeGreaterThanOrEqual(5_000)
      expect(awayMs).toBeLessThan(15_000)
      await store.lanes.close('mail')
      expect(await store.inspect.waits([mail])).toMatchObject([{ openness: 'shut' }])
      await store.lanes.open('mail')
      expect(await store.inspect.waits([mail])).toMatchObject([{ openness: 'open', workers: 3 }])
    })

    test('a limit says how many run, and when its rate has room', async () => {
      const name = functionLimit('mail')
      const limit = { concurrency: 2, rate: { jobs: 1, perMs: 60_000 } }
      const world = await open({ throttles: new Map([[name, limit]]) })
      const store = await world.node()
      await submitOne(store, 'mail')
      const { nowMs } = await store.nodes.beat()
      const limits = [[name, limit]] as const
      expect(await store.inspect.limits(limits, nowMs)).toEqual([{ running: 0 }])
      await takeOne(store, 'mail')
      const [taken] = await store.inspect.limits(limits, nowMs)
      expect(taken?.running).toBe(1)
      expect((taken?.nextAtMs ?? 0) - nowMs).toBeGreaterThanOrEqual(60_000)
      expect(await store.inspect.limits(limits, nowMs + 120_000)).toEqual([{ running: 1 }])
    })

    test('payloads have their first bytes, but for long ones, and their length', async ({
      store,
    }) => {
      const long = Buffer.alloc(startedBytes + 1, 'x')
      await submitAll(store, 'mail', [
        aJob({ input: bytes('hello') }),
        aJob({ input: long }),
        aJob({ input: bytes('') }),
      ])
      const starts = await store.inspect.payloadStarts('mail', [3, 1, 2, 9], { bytes: 4 })
      expect(starts).toEqual([
        { bytes: 0, start: Buffer.from('') },
        { bytes: 5, start: Buffer.from('hell') },
        { bytes: long.length },
        { bytes: 0, start: Buffer.from('') },
      ])
      // One job alone may be asked for a longer one, and for another part.
      const asked = { bytes: 4, longest: long.length }
      expect(await store.inspect.payloadStarts('mail', [1], asked)).toEqual([
        { bytes: 5, start: Buffer.from('hell') },
      ])
      expect(await store.inspect.payloadStarts('mail', [2], asked)).toEqual([
        { bytes: long.length, start: long.subarray(0, 4) },
      ])
      expect(await store.inspect.payloadStarts('mail', [1], { ...asked, part: 'output' })).toEqual([
        { bytes: 0, start: Buffer.from('') },
      ])
    })

    test('a job that waits for its turn says whose, and how many more', async () => {
      const limit = { concurrency: 1, isPerTurn: true } as const
      const world = await open({ throttles: new Map([[functionLimit('mail'), limit]]) })
      const store = await world.node()
      await submitAll(store, 'mail', copies(3, { turn: 'acme' }))
      await submitOne(store, 'mail', { turn: 'other', staleAtMs: 4e12 })
      await takeOne(store, 'mail')
      expect(await store.inspect.waits([{ lane: 'mail', ids: [2, 3, 4, 9] }])).toMatchObject([
        {
          jobs: [
            { turn: { value: 'acme', waiting: 2, running: 1 } },
            { turn: { value: 'acme', waiting: 2, running: 1 } },
            { staleAtMs: 4e12 },
            {},
          ],
        },
      ])
    })

    test('leases of a Faktory worker that vanished are told from others', async ({ store }) => {
      const lease = { lane: 'mail', id: 1, token: 'c1' }
      await store.holders.hold('gone', [lease])
      await store.holders.hold('here', [{ ...lease, id: 2, token: 'c2' }])
      expect([...(await store.inspect.vanishedWith(['c1', 'c2', 'c3']))]).toEqual([])
      const { nowMs } = await store.nodes.beat()
      await store.holders.gone(['gone'])
      const vanished = await store.inspect.vanishedWith(['c1', 'c2', 'c3'])
      expect([...vanished.keys()]).toEqual(['c1'])
      expect(vanished.get('c1')).toBeGreaterThanOrEqual(nowMs)
      expect([...(await store.inspect.vanishedWith([]))]).toEqual([])
    })

    test('in every other place, with its time', async ({ store }) => {
      const { nowMs } = await store.nodes.beat()
      await submitOne(store, 'mail')
      await store.steps.finish('mail', [killed(await takeOne(store, 'mail'))])
      await submitOne(store, 'mail', { dueAtMs: nowMs + 90_000 })
      await submitOne(store, 'mail', { dueAtMs: nowMs + 60_000 })
      await submitOne(store, 'mail')
      await takeOne(store, 'mail', { leaseMs: 50_000 })
      expect((await idsAt(store, 'dead')).ids).toEqual([1])
      const { jobs } = await store.inspect.page({
        lane: 'mail',
        place: 'scheduled',
        from: 0,
        count: 9,
      })
      expect(jobs).toEqual([
        { id: 3, offset: 0, atMs: nowMs + 60_000 },
        { id: 2, offset: 1, atMs: nowMs + 90_000 },
      ])
      expect((await idsAt(store, 'busy')).ids).toEqual([4])
    })

    test('whose payload or error contains a text, and counts those that it cannot search', async ({
      store,
    }) => {
      const long = Buffer.alloc(searchedBytes + 1, 'needle')
      await submitAll(store, 'mail', [
        aJob({ input: bytes('hay (needle).%w hay') }),
        aJob(),
        aJob({ input: long }),
        aJob({ input: bytes('%w needle') }),
      ])
      const found: number[] = []
      const sums = { seen: 0, unsearched: 0 }
      for (let more = true; more;) {
        const asked = { lane: 'mail', place: 'normal', from: sums.seen, count: 10 } as const
        const page = await store.inspect.page({ ...asked, text: bytes('needle).%w') })
        found.push(...page.jobs.map(({ id }) => id))
        sums.seen += page.seen
        sums.unsearched += page.unsearched
        more = page.more
      }
      expect([found, sums]).toEqual([[1], { seen: 4, unsearched: 1 }])
      await submitOne(store, 'other')
      await store.steps.finish('other', [killed(await takeOne(store, 'other'))])
      const dead = { lane: 'other', place: 'dead', from: 0, count: 9 } as const
      const inError = await store.inspect.page({ ...dead, text: bytes('"retry_count":25') })
      expect(inError.jobs).toHaveLength(1)
    })

    test('one by one: its place and its length', async ({ store }) => {
      const { nowMs } = await store.nodes.beat()
      await submitOne(store, 'mail', { input: bytes('12345') })
      expect(await store.inspect.standing('mail', 1)).toEqual({
        place: 'queue',
        inputBytes: 5,
        outputBytes: 0,
      })
      await submitOne(store, 'mail', { dueAtMs: nowMs + 60_000 })
      expect(await store.inspect.standing('mail', 2)).toMatchObject({
        place: 'scheduled',
        atMs: nowMs + 60_000,
      })
      const job = await takeOne(store, 'mail')
      expect(await store.inspect.standing('mail', 1)).toMatchObject({ place: 'busy' })
      await store.steps.finish('mail', [killed(job)])
      expect(await store.inspect.standing('mail', 1)).toMatchObject({ place: 'dead' })
      expect(await store.inspect.standing('mail', 3)).toBeUndefined()
    })

    test('and ends some of a piece of a queue, the others unchanged', async ({ store }) => {
      await submitAll(store, 'mail', [...jobsOf(5, 6, 5, 5, 4, 5), aJob({ unique, jid: 'j-1' })])
      const before = (await idsAt(store, 'normal')).ids
      expect(before).toHaveLength(7)
      const [second = 0, third = 0, last = 0] = [before[1], before[2], before[6]]
      const piece = { lane: 'mail', band: 'normal', from: 0, count: 4 } as const
      const ids = [third, second, last, 999]
      expect(await store.queues.endQueued({ ...piece, ids }, 'deleted')).toEqual(
        expect.arrayContaining([second, third]),
      )
      const left = before.filter((id) => id !== second && id !== third)
      expect((await idsAt(store, 'normal')).ids).toEqual(left)
      expect(await readOne(store, 'mail', second)).toBeUndefined()
      // Workers take some meanwhile: the piece is found nearer to its end.
      const taken = await take(store, ['mail'], 2)
      const rest = { ...piece, from: 3, count: 2, ids: left.slice(3) }
      expect(await store.queues.endQueued(rest, 'deleted')).toHaveLength(2)
      expect((await idsAt(store, 'normal')).ids).toEqual([left[2]])
      await store.steps.finish('mail', allCompleted(taken))
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ deleted: 4, completed: 2 })
    })

    test('that wait for their turn in the queue, and ends some of them there', async () => {
      const turns = { concurrency: 1, isPerTurn: true } as const
      const throttles = new Map([[functionLimit('mail'), turns]])
      const store = await (await open({ throttles })).node()
      await submitAll(
        store,
        'mail',
        Array.from('aaaabb').map((turn) => aJob({ turn })),
      )
      await takeOne(store, 'mail')
      const waiting = await store.inspect.page({ lane: 'mail', place: 'normal', from: 0, count: 9 })
      expect(waiting.jobs).toHaveLength(5)
      expect(waiting.jobs.every(({ atMs }) => atMs === undefined)).toBe(true)
      const some = await store.inspect.page({ lane: 'mail', place: 'normal', from: 3, count: 9 })
      expect(some.jobs).toEqual(waiting.jobs.slice(3).map((job, offset) => ({ ...job, offset })))
      expect(await idsAt(store, 'scheduled')).toMatchObject({ ids: [] })
      for (const { id } of waiting.jobs)
        expect(await store.inspect.standing('mail', id)).toMatchObject({ place: 'queue' })
      const ids = some.jobs.map(({ id }) => id)
      const piece = { lane: 'mail', band: 'normal', from: 3, count: 2, ids } as const
      expect(await store.queues.endQueued(piece, 'deleted')).toEqual(ids)
      expect(await store.queues.endJobs('mail', ['high', 'normal', 'low'], 99)).toHaveLength(3)
    })

    test('and sees which job one is a rerun of', async ({ store }) => {
      await submitOne(store, 'mail', { origin: '1-7' })
      expect((await store.jobs.look('mail', [1]))[0]?.origin).toBe('1-7')
    })
  })
}
