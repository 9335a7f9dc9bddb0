import { describe, expect } from 'vitest'
import { functionLimit, type Lease, type Throttle } from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import {
  completed,
  type ContractTests,
  copies,
  fetch,
  listening,
  namesOf,
  reclaimNode,
  requeued,
  retried,
  submitAll,
  take,
  takeOne,
} from '../kit.ts'

const limited = (
  throttle: Throttle,
  more: Readonly<Record<string, Throttle>> = {},
): { throttles: ReadonlyMap<string, Throttle> } => ({
  throttles: new Map([[functionLimit('mail'), throttle], ...Object.entries(more)]),
})
const jobs = (count: number) => copies(count, { door: 'faktory' })
const mail = ['mail', 'mail@bulk']

/** Limits of functions. */
export function functionLimitContract({ open, test }: ContractTests): void {
  describe('limits of functions', () => {
    test('so many jobs of a function run at a time, over its lanes, nodes and kinds of workers', async () => {
      const world = await open(limited({ concurrency: 2 }))
      const [here, there] = [await world.node(), await world.node()]
      for (const lane of mail) await submitAll(here, lane, jobs(3))
      await submitAll(here, 'news', jobs(1))
      await submitAll(here, 'news@bulk', jobs(1))
      const [first] = await take(here, ['mail'], 1)
      if (!first) throw new Error('no job')
      expect(namesOf(await fetch(there, 'bulk', ['mail@bulk', 'news@bulk'], 9))).toEqual([
        'mail@bulk:1',
        'news@bulk:1',
      ])
      expect(await take(here, mail, 9)).toEqual([])
      expect(await fetch(here, 'bulk', ['mail@bulk'], 9)).toEqual([])
      expect(namesOf(await fetch(there, 'default', ['mail', 'news'], 9))).toEqual(['news:1'])
      expect(await there.steps.finish('mail', [completed(first)])).toEqual(['done'])
      expect(await take(there, mail, 9)).toHaveLength(1)
      expect(await fetch(here, 'bulk', ['mail@bulk', 'news@bulk'], 9)).toEqual([])
    })

    test('a claim is told of the limit that holds jobs back', async () => {
      const world = await open(limited({ concurrency: 1, rate: { jobs: 5, perMs: 60_000 } }))
      const store = await world.node()
      await submitAll(store, 'mail', jobs(9))
      const reports: [string, number][] = []
      const claim = (): Promise<readonly Lease[]> => {
        const throttled = (name: string, waitMs: number): void => void reports.push([name, waitMs])
        return store.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 1, throttled })
      }
      for (let started = 0; started < 5; started += 1) {
        const [job] = await claim()
        if (!job) throw new Error('no job')
        expect(await take(store, ['mail'], 9)).toEqual([])
        await store.steps.finish('mail', [completed(job)])
      }
      expect(reports).toEqual([])
      expect(await claim()).toEqual([])
      expect(reports).toEqual([[functionLimit('mail'), expect.closeTo(60_000, -4)]])
      await world.pass(60_001)
      expect(await claim()).toHaveLength(1)
      expect(await claim()).toEqual([])
      expect(reports.at(-1)).toEqual([functionLimit('mail'), 0])
    })

    test("a function's rate holds over its lanes and nodes", async () => {
      const world = await open(limited({ rate: { jobs: 2, perMs: 60_000 } }))
      const [here, there] = [await world.node(), await world.node()]
      for (const lane of mail) await submitAll(here, lane, jobs(3))
      expect(await take(here, ['mail'], 1)).toHaveLength(1)
      await world.pass(30_000)
      expect(await fetch(there, 'bulk', ['mail@bulk', 'news@bulk'], 9)).toHaveLength(1)
      expect(await take(there, mail, 9)).toEqual([])
      await world.pass(30_001)
      expect(await take(there, mail, 9)).toHaveLength(1)
    })

    test('a lane keeps the limits of its function and its queue at the same time', async () => {
      const throttles = { bulk: { concurrency: 2 } }
      const store = await (await open(limited({ concurrency: 3 }, throttles))).node()
      for (const lane of [...mail, 'news@bulk']) await submitAll(store, lane, jobs(5))
      const bulk = ['mail@bulk', 'news@bulk']
      expect(await fetch(store, 'bulk', bulk, 9)).toHaveLength(2)
      expect(await take(store, ['mail@bulk'], 9)).toEqual([])
      expect(await take(store, ['mail'], 9)).toHaveLength(1)
    })

    test.each([
      ['done', (job: Lease) => completed(job)],
      ['to be tried again', (job: Lease) => retried(job, 60_000)],
      ['given back', (job: Lease) => requeued(job)],
    ])('a job that is %s makes room, and all nodes hear of it', async (_name, outcome) => {
      const world = await open(limited({ concurrency: 1 }))
      const { store, log } = await listening(world)
      const other = await listening(world)
      await submitAll(store, 'mail', jobs(2))
      const job = await takeOne(store, 'mail')
      await store.steps.finish('mail', [outcome(job)])
      for (const one of [log, other.log]) {
        expect(await one.waitFor('roomMade')).toEqual({ kind: 'roomMade', lane: 'mail', jobs: 1 })
      }
      expect(await take(store, ['mail'], 9)).toHaveLength(1)
    })

    test('the jobs of a dead node count until they are given back, and not longer', async () => {
      const world = await open(limited({ concurrency: 2 }))
      const [dead, alive] = [await world.node(), await world.node()]
      await submitAll(alive, 'mail', jobs(4))
      expect(await take(dead, ['mail'], 1)).toHaveLength(1)
      expect(await take(alive, ['mail'], 9)).toHaveLength(1)
      await reclaimNode(alive, dead.node, ['mail'])
      expect(await take(alive, ['mail'], 9)).toHaveLength(1)
      expect(await take(alive, ['mail'], 9)).toEqual([])
    })

    test('functions without a limit are prefetched from a queue, those with one are not', async () => {
      const store = await (await open(limited({ concurrency: 9 }))).node()
      const lanes = ['mail', 'news']
      await submitAll(store, 'mail', jobs(3))
      await submitAll(store, 'news', jobs(3))
      const ask = (max: number, prefetch: number): Promise<readonly Lease[]> =>
        store.steps.claim({
          by: 'consumer',
          groups: [{ lanes, queue: 'default' }],
          max,
          prefetch,
        })
      expect(namesOf(await ask(1, 2))).toEqual(['mail:1', 'news:1', 'news:2'])
      expect(namesOf(await ask(0, 5))).toEqual(['news:3'])
      expect(namesOf(await take(store, ['mail'], 1))).toEqual(['mail:2'])
    })

    test('a queue with many functions without room still gives the jobs behind them', async () => {
      const names = Array.from({ length: 20 }, (_none, at) => `limited${at}`)
      const throttles = new Map(names.map((fn) => [functionLimit(fn), { concurrency: 1 }]))
      const store: SteppedStore = await (await open({ throttles })).node()
      for (const lane of [...names, 'news']) await submitAll(store, lane, jobs(2))
      const lanes = [...names, 'news']
      expect(await fetch(store, 'default', lanes, 99)).toHaveLength(names.length + 2)
      await submitAll(store, 'news', jobs(1))
      expect(namesOf(await fetch(store, 'default', lanes, 9))).toEqual(['news:3'])
      expect(await fetch(store, 'default', lanes, 9)).toEqual([])
    })
  })
}
