import { describe, expect } from 'vitest'
import {
  noStep,
  type Level,
  type NewJob,
  type Lease,
  type Submitted,
} from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import {
  aJob,
  bytes,
  type ContractTests,
  fetch,
  inputsOf,
  pushNative,
  requeued,
  retried,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

/** A node of a cluster estimates the store's time; on a busy machine it may be wrong by some of these, milliseconds. */
const clockErrorMs = 20
const lanes = Array.from({ length: 10 }, (_none, at) => `f${at}`)

/** Jobs that come together, in alternating lanes. */
function line(jobs: number, from = 0, over: (at: number) => Partial<NewJob> = () => ({})) {
  return Array.from({ length: jobs }, (_none, index) => {
    const at = from + index
    const lane = lanes[(at * 7) % lanes.length] ?? ''
    return { lane, job: aJob({ door: 'faktory', input: bytes(String(at)), ...over(at) }) }
  })
}

async function submitLine(
  store: SteppedStore,
  arrivals: ReturnType<typeof line>,
): Promise<readonly Submitted[]> {
  const together = lanes.map((lane) => {
    const places = [...arrivals.keys()].filter((at) => arrivals[at]?.lane === lane)
    return { lane, places, jobs: places.flatMap((at) => arrivals[at]?.job ?? []) }
  })
  const submissions = together.filter(({ jobs }) => jobs.length > 0)
  const answer = await store.steps.step({ ...noStep, submissions })
  return answer.submissions.flatMap((lane) => {
    if (lane instanceof Error) throw lane
    return lane.results
  })
}

const numbers = (to: number): string[] => Array.from({ length: to }, (_none, at) => String(at))

/** A consumer that takes all jobs, one after the other. */
async function drain(store: SteppedStore, max = 1): Promise<string[]> {
  const seen: Lease[] = []
  for (;;) {
    const some = await fetch(store, 'default', lanes, max)
    if (some.length === 0) return inputsOf(seen)
    seen.push(...some)
  }
}

/** The lanes of a queue are one line, with an order finer than the clock. */
export function lineContract({ open, test }: ContractTests): void {
  describe('jobs of several lanes submitted together', () => {
    test.each([1, 7])(
      'are handed to consumers in the order in which they came, %i at a time',
      async (max) => {
        const store = await (await open()).node()
        const results = await submitLine(store, line(300))
        expect(results.every(({ kind }) => kind === 'created')).toBe(true)
        expect(await drain(store, max)).toEqual(numbers(300))
      },
    )

    test('are in one order with earlier and later ones, in the same millisecond or not', async ({
      world,
      store,
    }) => {
      const all = line(120)
      const together = [all.slice(0, 50), all.slice(50, 51), all.slice(51, 53), all.slice(53, 90)]
      await Promise.all(together.map((some) => submitLine(store, some)))
      await world.pass(1)
      await submitLine(store, all.slice(90))
      expect(await drain(store)).toEqual(numbers(120))
    })

    test('are handed to workers by name in that order as well', async ({ store }) => {
      await submitLine(store, line(40))
      expect(inputsOf(await take(store, lanes, 40))).toEqual(numbers(40))
    })

    test('are ordered by level, and within one by their places', async ({ store }) => {
      const levelOf = (at: number): Level => ([5, 8, 2, 6, 9] as const)[at % 5] ?? 5
      await submitLine(
        store,
        line(50, 0, (at) => ({ level: levelOf(at) })),
      )
      const expected = [...Array(50).keys()].sort(
        (one, other) => levelOf(other) - levelOf(one) || one - other,
      )
      expect(await drain(store)).toEqual(expected.map(String))
    })

    test('are followed by one that its worker gave back', async ({ store }) => {
      await submitLine(store, line(3))
      const [first] = await fetch(store, 'default', lanes)
      if (!first) throw new Error('nothing taken')
      await store.steps.finish(first.lane, [requeued(first)])
      expect(await drain(store)).toEqual(['1', '2', '0'])
    })

    test('join what is queued, each in its own lane', async ({ store }) => {
      const unique = bytes('one of a kind')
      await submitOne(store, 'f0', { unique })
      const jobs = [aJob({ unique })]
      const arrivals = ['f1', 'f0'].map((lane, at) => ({ lane, jobs, places: [at] }))
      const { submissions } = await store.steps.step({ ...noStep, submissions: arrivals })
      expect(submissions).toMatchObject([
        { results: [{ kind: 'created', id: 1 }] },
        { results: [{ kind: 'joined', id: 1 }] },
      ])
    })

    test('that are due later are placed by their due time', async ({ world, store }) => {
      const { nowMs } = await store.nodes.beat()
      await submitLine(
        store,
        line(30, 0, (at) => ({ dueAtMs: nowMs + 5_000 + at })),
      )
      await submitLine(store, line(1, 30))
      await world.pass(6_000)
      await store.lanes.promote()
      await submitLine(store, line(1, 31))
      // The queued job has aged with the clock: it came before the others were due.
      expect(await drain(store)).toEqual(['30', ...numbers(30), '31'])
    })

    test('of one lane that are due in the same moment come in the order in which they were pushed', async ({
      world,
      store,
    }) => {
      const { nowMs } = await store.nodes.beat()
      const jobs = numbers(25).map((input) => aJob({ input: bytes(input), dueAtMs: nowMs + 5_000 }))
      await store.steps.submit('f0', jobs)
      await world.pass(6_000)
      await store.lanes.promote()
      expect(await drain(store)).toEqual(numbers(25))
    })

    test('are joined by a due retry at the place of its time', async ({ world, store }) => {
      await submitOne(store, 'f0', { input: bytes('retry') })
      const job = await takeOne(store, 'f0', { by: 'consumer' })
      await store.steps.finish('f0', [retried(job, 1_000)])
      await submitOne(store, 'f1', { input: bytes('before') })
      await world.pass(1_500)
      await submitOne(store, 'f2', { input: bytes('after') })
      await store.lanes.promote()
      expect(await drain(store)).toEqual(['before', 'retry', 'after'])
    })

    test('are joined by a retry of a native job at the place of its time', async ({
      world,
      store,
    }) => {
      await pushNative(world, 'f0', 'normal', bytes('retry'))
      await store.lanes.nonEmpty(['f0'])
      const job = await takeOne(store, 'f0', { by: 'consumer' })
      await store.steps.finish('f0', [retried(job, 1_000)])
      await submitOne(store, 'f1', { input: bytes('before') })
      await world.pass(1_500)
      await submitOne(store, 'f2', { input: bytes('after') })
      await store.lanes.promote()
      expect(await drain(store)).toEqual(['before', 'retry', 'after'])
    })

    test('are ordered with native jobs by when those were first seen, a backlog of them in one piece', async ({
      world,
      store,
    }) => {
      const push = async (name: string): Promise<void> => {
        await world.native.push('native', await world.native.write('native', bytes(name)), 'normal')
      }
      await submitLine(store, line(4))
      await world.pass(clockErrorMs)
      for (const name of ['a', 'b', 'c']) await push(name)
      await store.lanes.nonEmpty(['native'])
      await world.pass(clockErrorMs)
      await submitLine(store, line(4, 4))
      await push('d')
      const all = await fetch(store, 'default', [...lanes, 'native'], 12)
      expect(inputsOf(all)).toEqual(['0', '1', '2', '3', 'a', 'b', 'c', '4', '5', '6', '7', 'd'])
    })
  })
}
