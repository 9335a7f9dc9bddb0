import { describe, expect } from 'vitest'
import { functionLimit, type Lease, type NewJob, type Throttle } from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import {
  aJob,
  completed,
  fetch,
  inputsOf,
  listening,
  namesOf,
  requeued,
  retried,
  submitAll,
  take,
  takeOne,
  type ContractTests,
} from '../kit.ts'

const inTurns = (limits: Throttle = {}): { throttles: ReadonlyMap<string, Throttle> } => ({
  throttles: new Map([[functionLimit('mail'), { ...limits, isPerTurn: true }]]),
})

/** Jobs of each value, in this order; their inputs name value and number. */
function jobsOfEach(
  counts: Readonly<Record<string, number>>,
  more: Partial<NewJob> = {},
): NewJob[] {
  return Object.entries(counts).flatMap(([turn, count]) =>
    Array.from({ length: count }, (_none, at) =>
      aJob({ ...(turn !== '' && { turn }), input: Buffer.from(`${turn}${at + 1}`), ...more }),
    ),
  )
}

/** Takes and ends one job after the other. */
async function runAll(store: SteppedStore, max: number, lanes = ['mail']): Promise<string[]> {
  const ran: string[] = []
  for (let at = 0; at < max; at += 1) {
    const [job] = await take(store, lanes)
    if (!job) break
    ran.push(...inputsOf([job]))
    await store.steps.finish(job.lane, [completed(job)])
  }
  return ran
}

/** Jobs of a function that take turns by the values of a key. */
export function turnContract({ open, test }: ContractTests): void {
  describe('turns', () => {
    test('each value has its next job in every round', async () => {
      const world = await open(inTurns())
      const [here, there] = [await world.node(), await world.node()]
      await submitAll(here, 'mail', jobsOfEach({ a: 30, b: 3, c: 1 }))
      expect(await runAll(there, 9)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'b3', 'a4', 'a5'])
      await submitAll(there, 'mail', jobsOfEach({ d: 2 }))
      expect(await runAll(here, 4)).toEqual(['a6', 'd1', 'a7', 'd2'])
      expect(await runAll(here, 99)).toHaveLength(30 - 7)
    })

    test('a claim of many jobs takes turns too, as do consumers', async () => {
      const store = await (await open(inTurns())).node()
      await submitAll(store, 'mail', jobsOfEach({ a: 3, b: 2 }))
      await submitAll(store, 'news', [aJob()])
      expect(inputsOf(await take(store, ['mail'], 3))).toEqual(['a1', 'b1', 'a2'])
      const fetched = inputsOf(await fetch(store, 'default', ['mail', 'news'], 9))
      expect(fetched).toHaveLength(3)
      expect(fetched.filter((input) => input !== 'input')).toEqual(['b2', 'a3'])
    })

    test('a claim that prefetches takes what it asks for, and ends', async () => {
      const limits = [functionLimit('mail'), functionLimit('news')].map(
        (name) => [name, { concurrency: 500, isPerTurn: true }] as const,
      )
      const store = await (await open({ throttles: new Map(limits) })).node()
      for (const lane of ['mail', 'news', 'free']) {
        await submitAll(store, lane, jobsOfEach({ a: 2, b: 2 }))
      }
      const groups = [{ lanes: ['mail', 'news', 'free'], queue: 'default' }]
      const taken = await store.steps.claim({ by: 'consumer', groups, max: 2, prefetch: 9 })
      expect(namesOf(taken).slice(0, 2)).toEqual(['mail:1', 'mail:3'])
      expect(namesOf(taken).slice(2)).toEqual(['free:1', 'free:2', 'free:3', 'free:4'])
    })

    test('each value has so many running jobs', async () => {
      const world = await open(inTurns({ concurrency: 2 }))
      const [here, there] = [await world.node(), await world.node()]
      await submitAll(here, 'mail', jobsOfEach({ a: 5, b: 1 }))
      const [first, ...others] = await take(here, ['mail'], 9)
      expect(inputsOf([first, ...others] as Lease[])).toEqual(['a1', 'b1', 'a2'])
      expect(await take(there, ['mail'], 9)).toEqual([])
      await there.steps.finish('mail', [completed(first as Lease)])
      expect(inputsOf(await take(there, ['mail'], 9))).toEqual(['a3'])
      await submitAll(here, 'mail', jobsOfEach({ c: 1 }))
      expect(inputsOf(await take(there, ['mail'], 9))).toEqual(['c1'])
    })

    test('each value has a rate', async () => {
      const world = await open(inTurns({ rate: { jobs: 2, perMs: 60_000 } }))
      const store = await world.node()
      await submitAll(store, 'mail', jobsOfEach({ a: 5, b: 1 }))
      expect(await runAll(store, 9)).toEqual(['a1', 'b1', 'a2'])
      await world.pass(30_000)
      await submitAll(store, 'mail', jobsOfEach({ b: 2 }))
      expect(await runAll(store, 9)).toEqual(['b1'])
      await world.pass(30_001)
      await store.lanes.promote()
      expect((await runAll(store, 9)).sort()).toEqual(['a3', 'a4', 'b2'])
    })

    test('jobs without a value share one turn', async () => {
      const store = await (await open(inTurns({ concurrency: 1 }))).node()
      await submitAll(store, 'mail', jobsOfEach({ '': 2, a: 1 }))
      expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['1', 'a1'])
    })

    test('a higher level comes first among the jobs of a value', async () => {
      const store = await (await open(inTurns())).node()
      await submitAll(store, 'mail', jobsOfEach({ a: 3 }))
      await submitAll(store, 'mail', jobsOfEach({ a: 1, b: 1 }, { level: 6 }))
      expect((await runAll(store, 9)).slice(0, 3)).toEqual(['b1', 'a1', 'a1'])
    })

    test('the waiting jobs count as waiting', async () => {
      const store = await (await open(inTurns({ concurrency: 1 }))).node()
      await submitAll(store, 'mail', jobsOfEach({ a: 4, b: 2 }))
      await takeOne(store, 'mail')
      const [counts] = await store.lanes.counts(['mail'])
      expect(counts).toMatchObject({ normal: 5, running: 1, scheduled: 0 })
      expect(await store.queues.endJobs('mail', ['scheduled'], 99)).toEqual([])
      expect(await store.queues.endJobs('mail', ['high', 'normal', 'low'], 99)).toHaveLength(5)
    })

    test.each([
      ['done', (job: Lease) => completed(job)],
      ['to be tried again', (job: Lease) => retried(job, 60_000)],
    ])('the next job comes when one is %s, and workers are woken', async (_name, outcome) => {
      const world = await open(inTurns({ concurrency: 1 }))
      const { store, log } = await listening(world)
      await submitAll(store, 'mail', jobsOfEach({ a: 2 }))
      const job = await takeOne(store, 'mail')
      log.clear()
      await store.steps.finish('mail', [outcome(job)])
      await log.waitFor('woken')
      expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['a2'])
    })

    test('a job that goes back has its turn again', async () => {
      const store = await (await open(inTurns({ concurrency: 1 }))).node()
      await submitAll(store, 'mail', jobsOfEach({ a: 2 }))
      const job = await takeOne(store, 'mail')
      await store.steps.finish('mail', [requeued(job)])
      expect(await runAll(store, 9)).toEqual(['a1', 'a2'])
    })

    test.each(['cancelled', 'deleted'] as const)(
      'jobs that are %s leave the turn to the next',
      async (as) => {
        const world = await open(inTurns({ concurrency: 1 }))
        const store = await world.node()
        const [first = 0, second = 0] = await submitAll(store, 'mail', jobsOfEach({ a: 4 }))
        await store.admin.cancel('mail', first, as)
        await store.admin.cancel('mail', second, as)
        await world.pass(2_000)
        await store.lanes.promote()
        expect(await runAll(store, 9)).toEqual(['a3', 'a4'])
      },
    )

    test('a native worker that takes a job leaves the turn to the next', async () => {
      const world = await open(inTurns({ concurrency: 1 }))
      const store = await world.node()
      await submitAll(store, 'mail', jobsOfEach({ a: 3 }))
      const id = (await world.native.take('mail')) ?? 0
      await world.native.finish('mail', id, 'success', Buffer.from('done'))
      await world.pass(2_000)
      await store.lanes.promote()
      expect(await runAll(store, 9)).toEqual(['a2', 'a3'])
    })

    test('scheduled jobs take turns when they are due', async () => {
      const world = await open(inTurns())
      const store = await world.node()
      await submitAll(
        store,
        'mail',
        jobsOfEach({ a: 5 }, { dueAtMs: (await store.nodes.beat()).nowMs + 1_000 }),
      )
      await submitAll(store, 'mail', jobsOfEach({ b: 2 }))
      await world.pass(2_000)
      await store.lanes.promote()
      expect(await runAll(store, 4)).toEqual(['b1', 'a1', 'b2', 'a2'])
    })

    test('values beyond 10,000 share one turn', async () => {
      const store = await (await open(inTurns({ concurrency: 1 }))).node()
      const each = (from: number, count: number): NewJob[] =>
        Array.from({ length: count }, (_none, at) => aJob({ turn: `value${from + at}` }))
      for (let from = 0; from < 10_000; from += 1_000) {
        const results = await store.steps.submit('mail', each(from, 1_000))
        expect(results.filter((result) => 'sharesTurn' in result)).toEqual([])
      }
      const shared = await store.steps.submit('mail', [...each(10_000, 2), ...each(9_999, 1)])
      expect(shared.map((result) => 'sharesTurn' in result)).toEqual([true, true, false])
      expect(await take(store, ['mail'], 100)).toHaveLength(100)
      // Values whose jobs have gone make room for others.
      const places = ['high', 'normal', 'low', 'scheduled', 'busy'] as const
      // A gateway ends as many in a step: a script of thousands would keep the server from all others.
      for (let ended = 1; ended > 0;)
        ended = (await store.queues.endJobs('mail', places, 100)).length
      const again = await store.steps.submit('mail', each(20_000, 100))
      expect(again.some((result) => !('sharesTurn' in result))).toBe(true)
    })

    test('a flushed lane begins again', async () => {
      const world = await open(inTurns({ concurrency: 1 }))
      const store = await world.node()
      await submitAll(store, 'mail', jobsOfEach({ a: 3 }))
      await store.queues.endJobs('mail', ['high', 'normal', 'low', 'scheduled'], 99)
      await submitAll(store, 'mail', jobsOfEach({ a: 2 }))
      expect(await runAll(store, 9)).toEqual(['a1', 'a2'])
    })
  })
}
