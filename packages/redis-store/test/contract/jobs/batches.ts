import { describe, expect } from 'vitest'
import type { BatchCallback, NewBatch, Lease } from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import {
  aJob,
  allCompleted,
  bytes,
  completed,
  type ContractTests,
  failed,
  inputsOf,
  killed,
  listening,
  requeued,
  retried,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

const callback = (name: string): BatchCallback => ({
  lane: 'calls',
  job: { ...aJob({ door: 'faktory', input: bytes(name) }), jid: `jid-${name}` },
})

const both = (bid: string): NewBatch => ({
  bid,
  description: 'letters',
  complete: callback(`complete ${bid}`),
  success: callback(`success ${bid}`),
})

const add = (store: SteppedStore, batch: string): Promise<number> =>
  submitOne(store, 'mail', { door: 'faktory', batch })
const calls = (store: SteppedStore): Promise<readonly Lease[]> => take(store, ['calls'], 9)
/** The pushed callbacks, each completed in turn. */
async function called(store: SteppedStore): Promise<string[]> {
  const names: string[] = []
  for (let jobs = await calls(store); jobs.length > 0; jobs = await calls(store)) {
    names.push(...inputsOf(jobs))
    await store.steps.finish('calls', allCompleted(jobs))
  }
  return names
}
/** The one callback that is pushed now. */
async function theCall(store: SteppedStore, name: string): Promise<Lease> {
  const jobs = await calls(store)
  expect(inputsOf(jobs)).toEqual([name])
  return jobs[0] as Lease
}

/** A committed batch of this many jobs. */
async function committed(store: SteppedStore, bid: string, jobs: number): Promise<void> {
  await store.batches.create(both(bid))
  for (let at = 0; at < jobs; at += 1) await add(store, bid)
  await store.batches.commit(bid)
}

/** Batches of jobs and their callbacks. */
export function batchContract({ open, test }: ContractTests): void {
  describe('batches', () => {
    test('a callback registers its lane', async ({ store }) => {
      await committed(store, 'b-1', 1)
      expect([...(await store.lanes.all()).keys()]).toEqual(['mail'])
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect([...(await store.lanes.all()).keys()].sort()).toEqual(['calls', 'mail'])
    })

    test('are listed in pages, the newest first, until they are deleted', async ({
      world,
      store,
    }) => {
      expect(await store.batches.list(undefined, 2)).toEqual({ batches: [] })
      for (const bid of ['b1', 'b2', 'b3']) {
        await store.batches.create({ bid, description: `the ${bid}` })
        await world.pass(2)
      }
      const first = await store.batches.list(undefined, 2)
      expect(first.batches.map(({ bid }) => bid)).toEqual(['b3', 'b2'])
      const { batches, next } = await store.batches.list(first.next, 2)
      expect(batches).toEqual([await store.batches.state('b1')])
      const oldest = await store.batches.list(undefined, 2, 'asc')
      expect(oldest.batches.map(({ bid }) => bid)).toEqual(['b1', 'b2'])
      const last = await store.batches.list(oldest.next, 2, 'asc')
      expect(last.batches.map(({ bid }) => bid)).toEqual(['b3'])
      expect(next).toBeUndefined()
      await store.batches.clear()
      expect(await store.batches.list(undefined, 2)).toEqual({ batches: [] })
    })

    test('count the outcomes of their jobs, and call back once when all are done', async ({
      store,
    }) => {
      await committed(store, 'b1', 2)
      expect(await store.batches.state('b1')).toMatchObject({
        bid: 'b1',
        description: 'letters',
        total: 2,
        pending: 2,
        failed: 0,
        complete: 'none',
        success: 'none',
      })
      const [one, two] = await take(store, ['mail'], 2)
      if (!one || !two) throw new Error('no jobs')
      await store.steps.finish('mail', [completed(one)])
      expect(await store.batches.state('b1')).toMatchObject({ total: 2, pending: 1, failed: 0 })
      expect(await calls(store)).toEqual([])
      await store.steps.finish('mail', [completed(two), completed(two)])
      expect(await called(store)).toEqual(['complete b1', 'success b1'])
      expect(await store.batches.state('b1')).toMatchObject({
        pending: 0,
        complete: 'done',
        success: 'done',
      })
    })

    test('call back success when the complete callback has been done, not before', async ({
      world,
      store,
    }) => {
      await committed(store, 'b1', 1)
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      const complete = await theCall(store, 'complete b1')
      expect(await calls(store)).toEqual([])
      expect(await store.batches.state('b1')).toMatchObject({ complete: 'pushed', success: 'none' })
      await store.steps.finish('calls', [retried(complete, 1_000)])
      expect(await calls(store)).toEqual([])
      await world.pass(1_001)
      await store.lanes.promote()
      const again = await theCall(store, 'complete b1')
      await store.steps.finish('calls', [completed(again)])
      expect(await store.batches.state('b1')).toMatchObject({ complete: 'done', success: 'pushed' })
      expect(await called(store)).toEqual(['success b1'])
    })

    test.for([
      ['fails for good', failed],
      ['dies', killed],
      ['is lost too often', (job: Lease) => requeued(job, true, 1)],
    ] as const)(
      'call back success also where the complete callback %s',
      async ([_name, outcome], { store }) => {
        await committed(store, 'b1', 1)
        await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
        await store.steps.finish('calls', [outcome(await theCall(store, 'complete b1'))])
        expect(await store.batches.state('b1')).toMatchObject({
          complete: 'failed',
          success: 'pushed',
        })
        expect(await called(store)).toEqual(['success b1'])
      },
    )

    test('whose complete callback is requeued from the dead call back success only once', async ({
      store,
    }) => {
      await committed(store, 'b1', 1)
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      const dead = await theCall(store, 'complete b1')
      await store.steps.finish('calls', [killed(dead)])
      expect(await called(store)).toEqual(['success b1'])
      await store.queues.moveJobs('calls', 'dead', [dead.id], 'queue')
      expect(await called(store)).toEqual(['complete b1'])
      expect(await store.batches.state('b1')).toMatchObject({ complete: 'done', success: 'done' })
    })

    test('without a complete callback call back success at once', async ({ store }) => {
      await store.batches.create({ bid: 'b1', description: '', success: callback('success') })
      await add(store, 'b1')
      await store.batches.commit('b1')
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await called(store)).toEqual(['success'])
    })

    test('are successful only when the jobs that failed have succeeded', async ({
      world,
      store,
    }) => {
      await committed(store, 'b1', 1)
      await store.steps.finish('mail', [retried(await takeOne(store, 'mail'), 1_000)])
      expect(await store.batches.state('b1')).toMatchObject({ pending: 0, failed: 1 })
      expect(await called(store)).toEqual(['complete b1'])
      await world.pass(1_001)
      await store.lanes.promote()
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await store.batches.state('b1')).toMatchObject({ pending: 0, failed: 0 })
      expect(await called(store)).toEqual(['success b1'])
    })

    test.for([
      ['fails for good', failed],
      ['dies', killed],
    ] as const)(
      'are complete and not successful where a job %s',
      async ([_name, outcome], { store }) => {
        await committed(store, 'b1', 1)
        await store.steps.finish('mail', [outcome(await takeOne(store, 'mail'))])
        expect(await called(store)).toEqual(['complete b1'])
        expect(await store.batches.state('b1')).toMatchObject({ failed: 1, success: 'none' })
      },
    )

    test('that are open wait for their commitment, and can be opened again', async ({ store }) => {
      await store.batches.create(both('b1'))
      await add(store, 'b1')
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await calls(store)).toEqual([])
      await add(store, 'b1')
      expect(await store.batches.commit('b1')).toBe(true)
      expect(await store.batches.open('b1')).toBe(true)
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await calls(store)).toEqual([])
      await store.batches.commit('b1')
      expect(await called(store)).toEqual(['complete b1', 'success b1'])
    })

    test('that succeeded can be opened and added to, and call back only once', async ({
      store,
    }) => {
      await committed(store, 'b1', 1)
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await called(store)).toEqual(['complete b1', 'success b1'])
      expect(await store.batches.open('b1')).toBe(true)
      await add(store, 'b1')
      expect(await store.batches.create({ ...both('child'), parent: 'b1' })).toBe(true)
      await store.batches.commit('b1')
      expect(await store.batches.state('b1')).toMatchObject({ total: 2, pending: 1 })
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await store.batches.state('b1')).toMatchObject({ pending: 0, success: 'done' })
      await store.batches.commit('child')
      expect(await called(store)).toEqual(['complete child', 'success child'])
    })

    test('that are empty are done when they are committed', async () => {
      const { store, log } = await listening(await open())
      await committed(store, 'b1', 0)
      await log.waitFor('woken')
      expect(await called(store)).toEqual(['complete b1', 'success b1'])
    })

    test('a parent waits until the callbacks of its children have been done', async ({ store }) => {
      await store.batches.create(both('parent'))
      expect(await store.batches.create({ ...both('child'), parent: 'parent' })).toBe(true)
      await add(store, 'child')
      await store.batches.commit('child')
      await store.batches.commit('parent')
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      const complete = await theCall(store, 'complete child')
      await store.steps.finish('calls', [completed(complete)])
      const success = await theCall(store, 'success child')
      await store.steps.finish('calls', [completed(success)])
      expect(await store.batches.state('child')).toMatchObject({
        parent: 'parent',
        complete: 'done',
        success: 'done',
      })
      expect(await called(store)).toEqual(['complete parent', 'success parent'])
    })

    test('a parent is complete, and not successful, where a job of its child fails', async ({
      store,
    }) => {
      await store.batches.create(both('parent'))
      await store.batches.create({ ...both('child'), parent: 'parent' })
      await add(store, 'child')
      await store.batches.commit('child')
      await store.batches.commit('parent')
      await store.steps.finish('mail', [failed(await takeOne(store, 'mail'))])
      expect(await called(store)).toEqual(['complete child', 'complete parent'])
    })

    test('a parent is successful when the success callback of its child has been done', async ({
      store,
    }) => {
      await store.batches.create(both('parent'))
      await store.batches.create({ ...both('child'), parent: 'parent' })
      await store.batches.commit('child')
      await store.batches.commit('parent')
      await store.steps.finish('calls', [completed(await theCall(store, 'complete child'))])
      const dead = await theCall(store, 'success child')
      await store.steps.finish('calls', [killed(dead)])
      expect(await called(store)).toEqual(['complete parent'])
      await store.queues.moveJobs('calls', 'dead', [dead.id], 'queue')
      expect(await called(store)).toEqual(['success child', 'success parent'])
    })

    test('a child without callbacks counts when it is done, at any depth', async ({ store }) => {
      const plain = { description: '' }
      await store.batches.create(both('a'))
      await store.batches.create({ ...plain, bid: 'b', parent: 'a' })
      await store.batches.create({ ...plain, bid: 'c', parent: 'b' })
      for (const bid of ['a', 'b']) await store.batches.commit(bid)
      await add(store, 'c')
      await store.batches.commit('c')
      expect(await calls(store)).toEqual([])
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await called(store)).toEqual(['complete a', 'success a'])
    })

    test('that are unknown take no jobs and no children', async ({ store }) => {
      const [result] = await store.steps.submit('mail', [aJob({ batch: 'b9', door: 'faktory' })])
      expect(result).toEqual({ kind: 'unbatched' })
      expect(await store.batches.create({ bid: 'b1', description: '', parent: 'b9' })).toBe(false)
      expect(await store.batches.commit('b9')).toBe(false)
      expect(await store.batches.open('b9')).toBe(false)
      expect(await store.batches.state('b9')).toBeUndefined()
    })

    test('abandoned jobs do not count as failures, removed jobs do', async ({ world, store }) => {
      await store.batches.create(both('b1'))
      const staleAtMs = (await store.nodes.beat()).nowMs + 1_000
      await submitOne(store, 'mail', { door: 'faktory', batch: 'b1', staleAtMs })
      await add(store, 'b1')
      await store.batches.commit('b1')
      await world.pass(1_001)
      await store.admin.cancel('mail', 2)
      expect(await take(store, ['mail'])).toEqual([])
      expect(await store.batches.state('b1')).toMatchObject({ pending: 0, failed: 1 })
    })

    test('have failed once a running job is cancelled, whatever its worker says later', async ({
      store,
    }) => {
      await committed(store, 'b1', 1)
      const job = await takeOne(store, 'mail')
      await store.admin.cancel('mail', job.id)
      expect(await called(store)).toEqual(['complete b1'])
      expect(await store.steps.finish('mail', [completed(job)])).toEqual(['unknown'])
      expect(await called(store)).toEqual([])
      expect(await store.batches.state('b1')).toMatchObject({ pending: 0, failed: 1 })
    })

    test('are all deleted on demand, and then call nothing back', async ({ store }) => {
      await committed(store, 'b1', 1)
      await store.batches.clear()
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await store.batches.state('b1')).toBeUndefined()
      expect(await calls(store)).toEqual([])
    })
  })
}
