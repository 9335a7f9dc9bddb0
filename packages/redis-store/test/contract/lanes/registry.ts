import { describe, expect } from 'vitest'
import {
  aJob,
  completed,
  type ContractTests,
  dropPiece,
  fetch,
  killed,
  listening,
  pushNative,
  submitAll,
  submitOne,
  takeOne,
} from '../kit.ts'
import type { SteppedStore } from '../store-world.ts'

const unusedMs = 60_000
const emptiedMs = 600_000
const keptMs = 86_400_000
const idle = { unusedMs, emptiedMs, keptMs }
const atOnce = { unusedMs: 0, emptiedMs: 0, keptMs: 0 }

/** Submits a job and ends it. */
async function useOnce(store: SteppedStore, lane: string): Promise<void> {
  await submitOne(store, lane)
  await store.steps.finish(lane, [completed(await takeOne(store, lane))])
}

/** Lanes that are given back, in the order in which they were named. */
const givenBack = async (
  store: SteppedStore,
  lanes: readonly string[],
  times = idle,
): Promise<string[]> => [...(await store.lanes.giveBack(lanes, times)).keys()]

/** Lanes that come and go. */
export function registryContract({ open, test }: ContractTests): void {
  describe('the registry of lanes', () => {
    test('gets a lane with its first job, and the answer has its number', async ({ world }) => {
      const [store, other] = [await world.node(), await listening(world)]
      const { submissions } = await store.steps.step({
        reports: [],
        outcomes: [],
        claims: [],
        submissions: [{ lane: 'mail', jobs: [aJob()], places: [0] }],
      })
      const { number } = await other.log.waitFor('laneAdded', ({ lane }) => lane === 'mail')
      expect(submissions).toMatchObject([{ laneNumber: number, results: [{ id: 1 }] }])
      expect(await store.lanes.all()).toEqual(new Map([['mail', number]]))
      expect(await store.lanes.register('mail')).toBe(number)
    })

    test('a job that comes while its lane is dropped is dropped too, or its lane is registered', async ({
      world,
    }) => {
      const [store, other] = [await world.node(), await listening(world)]
      await submitAll(store, 'mail', [aJob(), aJob()])
      const before = await store.lanes.register('mail')
      expect(await dropPiece(store, 'mail', 1)).toEqual({ ids: [1] })
      await submitOne(other.store, 'mail')
      expect([...(await dropPiece(store, 'mail', 2)).ids].sort()).toEqual([2, 3])
      expect(await dropPiece(store, 'mail', 2)).toEqual({ ids: [], laneNumber: before })
      await other.log.waitFor('laneDropped', ({ number }) => number === before)
      expect(await submitOne(other.store, 'mail')).toBe(4)
      const after = (await store.lanes.all()).get('mail')
      expect(after).toBeGreaterThan(before)
      expect(await store.lanes.register('mail')).toBe(after)
    })

    test('a job that a native client pushes while its lane is dropped is dropped too', async ({
      world,
      store,
    }) => {
      await submitAll(store, 'mail', [aJob(), aJob()])
      await dropPiece(store, 'mail', 2)
      const native = await pushNative(world, 'mail')
      const last = await dropPiece(store, 'mail', 2)
      expect(last).toMatchObject({ ids: [native] })
      expect(await store.lanes.all()).toEqual(new Map())
    })

    test('a lane without jobs, workers, limits or an order goes: first one that never had a job', async ({
      world,
    }) => {
      const [store, other] = [await world.node(), await listening(world)]
      const lanes = ['new', 'used', 'kept', 'queued', 'worked', 'labelled', 'limited', 'closed']
      for (const lane of lanes) await store.lanes.register(lane)
      await useOnce(store, 'used')
      await store.lanes.keep('kept')
      await submitOne(store, 'queued')
      await store.lanes.setWorkers(
        new Map([
          ['worked', { named: 1, consumers: 0 }],
          ['labelled', { named: 0, consumers: 1, labelled: 1 }],
        ]),
      )
      await store.admin.setLimits('limited', { high: 0, normal: 2, low: 0 })
      await store.lanes.close('closed')
      expect(await givenBack(store, lanes)).toEqual([])
      await world.pass(unusedMs + 1_000)
      expect(await givenBack(store, lanes)).toEqual(lanes.splice(0, 1))
      await other.log.waitFor('laneDropped', ({ lane }) => lane === 'new')
      await world.pass(emptiedMs)
      expect(await givenBack(store, lanes)).toEqual(lanes.splice(0, 1))
      await world.pass(keptMs)
      expect(await givenBack(store, lanes)).toEqual(lanes.splice(0, 1))
      expect([...(await store.lanes.all()).keys()].sort()).toEqual(lanes.sort())
    })

    test('dead and scheduled jobs keep their lane', async ({ store }) => {
      await submitOne(store, 'dead')
      await store.steps.finish('dead', [killed(await takeOne(store, 'dead'))])
      await submitOne(store, 'later', { dueAtMs: 9e15 })
      expect(await givenBack(store, ['dead', 'later'], atOnce)).toEqual([])
    })

    test('a job that came and went begins the time of its lane again', async ({ world, store }) => {
      await useOnce(store, 'mail')
      expect(await givenBack(store, ['mail'])).toEqual([])
      await useOnce(store, 'mail')
      await world.pass(emptiedMs + 1_000)
      expect(await givenBack(store, ['mail'])).toEqual([])
      await world.pass(emptiedMs + 1_000)
      expect(await givenBack(store, ['mail'])).toEqual(['mail'])
    })

    test('consumers of its queue do not keep a lane, and are counted again when it comes back', async ({
      store,
    }) => {
      await useOnce(store, 'mail')
      const consumers = new Map([['mail', { named: 0, consumers: 2 }]])
      await store.lanes.setWorkers(consumers)
      expect(await givenBack(store, ['mail'], atOnce)).toEqual(['mail'])
      expect((await store.lanes.sizes(['mail']))[0]?.workers).toBe(0)
      await store.lanes.register('mail')
      await store.lanes.setWorkers(consumers)
      expect((await store.lanes.sizes(['mail']))[0]?.workers).toBe(2)
    })

    test('a lane whose jobs come from native clients stays while consumers serve it', async ({
      world,
      store,
    }) => {
      await store.lanes.register('mail')
      await pushNative(world, 'mail')
      await store.lanes.heal(['mail'])
      const [job] = await fetch(store, 'default', ['mail'])
      if (!job) throw new Error('nothing to fetch')
      await store.steps.finish('mail', [completed(job)])
      await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 1 }]]))
      expect(await givenBack(store, ['mail'])).toEqual([])
      await world.pass(emptiedMs + 1_000)
      expect(await givenBack(store, ['mail'])).toEqual([])
    })

    test('a lane comes back with new ids, a new number, and its counters in those of all', async ({
      store,
    }) => {
      const number = await store.lanes.register('mail')
      await useOnce(store, 'mail')
      expect(await store.lanes.giveBack(['mail'], atOnce)).toEqual(new Map([['mail', number]]))
      expect(await store.lanes.register('mail')).toBeGreaterThan(number)
      expect(await submitOne(store, 'mail')).toBe(2)
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ submitted: 1, completed: 0 })
      expect(await store.lanes.formerTotals()).toMatchObject({ submitted: 1, completed: 1 })
      await store.lanes.resetFormerTotals()
      expect(await store.lanes.formerTotals()).toMatchObject({ submitted: 0, completed: 0 })
    })

    test.each(['given back', 'dropped'] as const)(
      'a function whose workers are away stays theirs, its lane %s',
      async (how) => {
        const world = await open({ graceMs: 7 * keptMs })
        const store = await world.node()
        await store.lanes.register('mail')
        await store.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 0 }]]))
        await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 0 }]]))
        if (how === 'dropped') await dropPiece(store, 'mail', 9)
        else expect(await givenBack(store, ['mail'], atOnce)).toEqual(['mail'])
        expect(await store.lanes.all()).toEqual(new Map())
        await submitOne(store, 'mail')
        await submitOne(store, 'mail@bulk')
        expect(await fetch(store, 'default', ['mail'])).toEqual([])
        expect(await fetch(store, 'bulk', ['mail@bulk'])).toEqual([])
        await world.pass(7 * keptMs + 1_000)
        await store.lanes.heal(['mail', 'mail@bulk'])
        expect(await fetch(store, 'default', ['mail'])).toHaveLength(1)
      },
    )

    test('a lane that a producer opened is open when it comes back', async () => {
      const world = await open({ bridge: 'routed' })
      const store = await world.node()
      await store.lanes.register('mail')
      await store.lanes.open('mail')
      expect(await givenBack(store, ['mail'], atOnce)).toEqual(['mail'])
      await submitOne(store, 'mail')
      expect((await store.lanes.openness(['mail']))[0]?.state).toBe('open')
    })
  })
}
