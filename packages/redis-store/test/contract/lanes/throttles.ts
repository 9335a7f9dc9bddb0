import { describe, expect } from 'vitest'
import { functionLimit, type Lease, type Throttle } from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import {
  allCompleted,
  completed,
  type ContractTests,
  copies,
  fetch,
  idsOf,
  listening,
  requeued,
  retried,
  submitAll,
  take,
  takeOne,
} from '../kit.ts'

const throttled = (throttle: Throttle): { throttles: ReadonlyMap<string, Throttle> } => ({
  throttles: new Map([['bulk', throttle]]),
})
const jobs = (count: number) => copies(count, { door: 'faktory' })

/** The throttles in the answer to a claim. */
async function heldBack(
  store: SteppedStore,
  lanes: readonly string[],
): Promise<[string, number][]> {
  const reports: [string, number][] = []
  await store.steps.claim({
    by: 'consumer',
    groups: [{ lanes, queue: 'bulk' }],
    max: 9,
    throttled: (queue, waitMs) => reports.push([queue, waitMs]),
  })
  return reports
}

/** Limits of Faktory queues. */
export function throttleContract({ open, test }: ContractTests): void {
  describe('throttles', () => {
    test("a queue's limit of running jobs holds over its lanes, nodes and kinds of workers", async () => {
      const world = await open(throttled({ concurrency: 2 }))
      const [here, there] = [await world.node(), await world.node()]
      const lanes = ['mail@bulk', 'news@bulk']
      for (const lane of lanes) await submitAll(here, lane, jobs(3))
      const first = await fetch(here, 'bulk', lanes, 9)
      expect(first).toHaveLength(2)
      expect(await fetch(there, 'bulk', lanes, 9)).toEqual([])
      expect(await take(there, ['mail@bulk'], 9)).toEqual([])
      expect(await take(there, lanes, 9)).toEqual([])
      expect(await heldBack(there, lanes)).toEqual([['bulk', 0]])
      const [job] = first
      if (!job) throw new Error('no job')
      await there.steps.finish(job.lane, [completed(job)])
      expect(await take(there, lanes, 9)).toHaveLength(1)
      expect(await fetch(here, 'bulk', ['news@bulk'], 9)).toEqual([])
    })

    test('other queues are not held back, nor other lanes of the function', async () => {
      const store = await (await open(throttled({ concurrency: 1 }))).node()
      await submitAll(store, 'mail', jobs(2))
      await submitAll(store, 'mail@bulk', jobs(2))
      const taken = await take(store, ['mail', 'mail@bulk'], 9)
      expect(taken.map(({ lane }) => lane).sort()).toEqual(['mail', 'mail', 'mail@bulk'])
    })

    test.each([
      ['done', (job: Parameters<typeof completed>[0]) => completed(job)],
      ['to be tried again', (job: Parameters<typeof completed>[0]) => retried(job, 60_000)],
      ['given back', (job: Parameters<typeof completed>[0]) => requeued(job)],
    ])('a job that is %s makes room, and who waits for it is woken', async (_name, outcome) => {
      const world = await open(throttled({ concurrency: 1 }))
      const { store, log } = await listening(world)
      await submitAll(store, 'mail@bulk', jobs(2))
      await submitAll(store, 'news@bulk', jobs(1))
      const job = await takeOne(store, 'mail@bulk')
      await store.steps.finish('mail@bulk', [outcome(job)])
      await log.waitFor('woken')
      expect(await take(store, ['mail@bulk', 'news@bulk'], 9)).toHaveLength(1)
    })

    test.each(['bulk', functionLimit('mail')])('a removed job makes room: %s', async (limit) => {
      const throttles = new Map([[limit, { concurrency: 1 }]])
      const store = await (await open({ throttles })).node()
      await submitAll(store, 'mail@bulk', jobs(2))
      const { id } = await takeOne(store, 'mail@bulk')
      await store.admin.cancel('mail@bulk', id)
      expect(idsOf(await take(store, ['mail@bulk'], 9))).toEqual([2])
    })

    test("a queue's rate limit holds for any window of its length", async () => {
      const rate = { jobs: 2, perMs: 60_000 }
      const world = await open(throttled({ rate }))
      const [here, there] = [await world.node(), await world.node()]
      const lanes = ['mail@bulk', 'news@bulk']
      await submitAll(here, 'mail@bulk', jobs(5))
      const [first] = await fetch(here, 'bulk', ['mail@bulk'], 1)
      if (!first) throw new Error('no job')
      await here.steps.finish('mail@bulk', [completed(first)])
      await world.pass(20_000)
      expect(await fetch(there, 'bulk', lanes, 9)).toHaveLength(1)
      const [reports] = await heldBack(here, lanes)
      expect(reports?.[0]).toBe('bulk')
      expect(reports?.[1]).toBeGreaterThan(38_000)
      expect(reports?.[1]).toBeLessThanOrEqual(40_000)
      await world.pass(40_001)
      expect(await fetch(here, 'bulk', lanes, 9)).toHaveLength(1)
      await world.pass(20_001)
      expect(await take(here, ['mail@bulk'], 9)).toHaveLength(1)
    })

    const takenBy = async (
      store: SteppedStore,
      worker: string,
      max = 9,
    ): Promise<readonly Lease[]> =>
      store.steps.claim({ by: 'consumer', groups: [{ lanes: bulk, queue: 'bulk' }], max, worker })
    const bulk = ['mail@bulk', 'news@bulk']

    test("a queue's limit for each worker holds over its lanes and nodes", async () => {
      const world = await open(throttled({ perWorker: 2 }))
      const [here, there] = [await world.node(), await world.node()]
      for (const lane of bulk) await submitAll(here, lane, jobs(3))
      const [first, second] = [await takenBy(here, 'w1', 1), await takenBy(there, 'w1')]
      expect([first.length, second.length]).toEqual([1, 1])
      expect(await takenBy(here, 'w1')).toEqual([])
      expect(await takenBy(there, 'w')).toHaveLength(2)
      expect(await takenBy(here, 'w2')).toHaveLength(2)
      const [job] = first
      if (!job) throw new Error('no job')
      await there.steps.finish(job.lane, [retried(job, 60_000)])
      await submitAll(here, 'mail@bulk', jobs(3))
      expect(await takenBy(here, 'w2')).toEqual([])
      expect(await takenBy(here, 'w1')).toHaveLength(1)
    })

    test('a removed job of a worker makes room for that worker', async () => {
      const store = await (await open(throttled({ perWorker: 1 }))).node()
      await submitAll(store, 'mail@bulk', jobs(3))
      const [job] = await takenBy(store, 'w1')
      await store.admin.cancel('mail@bulk', job?.id ?? 0)
      expect(await takenBy(store, 'w1')).toHaveLength(1)
      expect(await takenBy(store, 'w1')).toEqual([])
    })

    test.each([
      ['in all', { concurrency: 1 }],
      ['by worker', { perWorker: 1 }],
    ])('a job that runs for longer than a timeout makes room, %s', async (_name, limit) => {
      const world = await open(throttled({ ...limit, timeoutMs: 60_000 }))
      const store = await world.node()
      await submitAll(store, 'mail@bulk', jobs(3))
      const [first] = await takenBy(store, 'w1')
      if (!first) throw new Error('no job')
      await world.pass(20_000)
      const reports: number[] = []
      const group = { lanes: bulk, queue: 'bulk' }
      const throttle = { throttled: (_queue: string, waitMs: number) => void reports.push(waitMs) }
      const request = {
        by: 'consumer',
        groups: [group],
        max: 9,
        worker: 'w1',
        ...throttle,
      } as const
      expect(await store.steps.claim(request)).toEqual([])
      expect(reports).toHaveLength(1)
      expect(reports[0]).toBeGreaterThan(38_000)
      expect(reports[0]).toBeLessThanOrEqual(40_000)
      await world.pass(40_001)
      expect(await takenBy(store, 'w1')).toHaveLength(1)
      // The first still runs, and its end makes no room for another.
      expect(await store.steps.finish(first.lane, [completed(first)])).toEqual(['done'])
      expect(await takenBy(store, 'w1')).toEqual([])
    })

    test('both limits hold at once', async () => {
      const rate = { jobs: 3, perMs: 60_000 }
      const store = await (await open(throttled({ concurrency: 2, rate }))).node()
      await submitAll(store, 'mail@bulk', jobs(9))
      const taken = await take(store, ['mail@bulk'], 9)
      expect(taken).toHaveLength(2)
      await store.steps.finish('mail@bulk', allCompleted(taken))
      expect(await take(store, ['mail@bulk'], 9)).toHaveLength(1)
    })
  })
}
