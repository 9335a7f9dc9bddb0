import { describe, expect } from 'vitest'
import {
  aJob,
  bytes,
  completed,
  type ContractTests,
  copies,
  dropPiece,
  findUnique,
  idsOf,
  killed,
  listening,
  readOne,
  requeued,
  requeuedInFront,
  submitAll,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

const unique = bytes('one of a kind')
const foreground = true

/** Operations of administrators on lanes and jobs. */
export function administrationContract({ open, test }: ContractTests): void {
  describe('administration', () => {
    test('a limit refuses the first job above it, until it is lifted', async ({ store }) => {
      await store.admin.setLimits('mail', { high: 0, normal: 1, low: 0 })
      expect(await submitAll(store, 'mail', [aJob(), aJob(), aJob({ level: 8 })])).toEqual([
        1, 0, 2,
      ])
      await store.admin.setLimits('mail', { high: 0, normal: 0, low: 0 })
      expect(await submitOne(store, 'mail')).toBeGreaterThan(0)
    })

    test('limits can be read', async ({ store }) => {
      const [none, some] = [
        { high: 0, normal: 0, low: 0 },
        { high: 0, normal: 3, low: 9 },
      ]
      await store.admin.setLimits('mail', some)
      expect(await store.admin.limits(['news', 'mail', 'none'])).toEqual([none, some, none])
    })

    test.each([1, 5, 9] as const)('a queued job of level %i is cancelled', async (level) => {
      const store = await (await open()).node()
      await submitAll(store, 'mail', [aJob(), aJob({ level, unique, jid: 'j-1' }), aJob({ level })])
      expect(await store.admin.cancel('mail', 2)).toBe(true)
      expect(await store.admin.cancel('mail', 2)).toBe(false)
      expect(await readOne(store, 'mail', 2)).toBeUndefined()
      expect(await findUnique(store, unique, ['mail'])).toEqual([])
      expect(await store.jobs.findJid('j-1')).toBeUndefined()
      expect(idsOf(await take(store, ['mail'], 9)).sort()).toEqual([1, 3])
    })

    test('jobs that moved within their queue are cancelled, and the others keep their order', async ({
      world,
      store,
    }) => {
      await submitAll(store, 'mail', [aJob(), aJob(), aJob(), aJob(), aJob()])
      const [first, second] = await take(store, ['mail'], 2)
      if (!first || !second) throw new Error('nothing to take')
      await store.steps.finish('mail', [requeued(first), requeuedInFront(second)])
      // A native client pushes its older job behind the others.
      const native = await world.native.write('mail', bytes('native'))
      const last = await submitOne(store, 'mail')
      await world.native.push('mail', native, 'normal')
      for (const id of [4, 1, native]) expect(await store.admin.cancel('mail', id)).toBe(true)
      expect(idsOf(await take(store, ['mail'], 9))).toEqual([2, 3, 5, last])
    })

    test('a scheduled and a reserved job are cancelled, and late outcomes are unknown', async ({
      store,
    }) => {
      await submitOne(store, 'mail', { dueAtMs: 9e15 })
      await submitOne(store, 'mail')
      const job = await takeOne(store, 'mail')
      expect(await store.admin.cancel('mail', 1)).toBe(true)
      expect(await store.admin.cancel('mail', 2)).toBe(true)
      expect(await store.steps.finish('mail', [completed(job)])).toEqual(['unknown'])
      const [counts] = await store.lanes.counts(['mail'])
      expect(counts).toMatchObject({ running: 0, scheduled: 0, cancelled: 2, failed: 0 })
    })

    test('a job that a worker has by now is not moved, as its copy would run too, nor deleted', async ({
      world,
      store,
    }) => {
      await submitOne(store, 'mail')
      const job = await takeOne(store, 'mail')
      const ofNative = await submitOne(store, 'mail')
      expect(await world.native.take('mail')).toBe(ofNative)
      for (const as of ['moved', 'deleted'] as const)
        for (const id of [job.id, ofNative])
          expect(await store.admin.cancel('mail', id, as)).toBe(false)
      expect(await store.steps.finish('mail', [completed(job)])).toEqual(['done'])
      expect(await readOne(store, 'mail', ofNative)).toMatchObject({ status: 'busy' })
    })

    test('a job of a native worker is cancelled, and kept for the outcome that the worker still writes', async ({
      world,
      store,
    }) => {
      const id = await submitOne(store, 'mail')
      expect(await world.native.take('mail')).toBe(id)
      expect(await store.admin.cancel('mail', id)).toBe(true)
      expect(await world.secondsLeft('mail', id)).toBe(60)
      await world.native.finish('mail', id, 'success', bytes('late'))
      expect(await take(store, ['mail'])).toEqual([])
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({
        cancelled: 1,
        completed: 0,
        running: 0,
      })
    })

    test('a job that does not exist, is dead or has ended is not cancelled', async ({
      world,
      store,
    }) => {
      await submitOne(store, 'mail')
      await store.steps.finish('mail', [killed(await takeOne(store, 'mail'))])
      await submitOne(store, 'mail')
      const taken = await world.native.take('mail')
      expect(await store.admin.cancel('mail', 99)).toBe(false)
      expect(await store.admin.cancel('mail', 1)).toBe(false)
      await world.native.finish('mail', taken ?? 0, 'success', bytes('done'))
      expect(await store.admin.cancel('mail', taken ?? 0)).toBe(false)
      await store.steps.finish('mail', [completed({ lane: 'mail', id: 2, token: 'native' })])
    })

    test('clients of other nodes get the failure of a cancelled job', async ({ world }) => {
      const [store, other] = [await world.node(), await listening(world)]
      await submitOne(other.store, 'mail', { foreground })
      expect(await store.admin.cancel('mail', 1)).toBe(true)
      const { ref, event } = await other.log.waitFor('relayed')
      expect({ ref, event }).toEqual({ ref: { lane: 'mail', id: 1 }, event: 'finish' })
    })

    test('a list has jobs of all states with their details', async ({ store }) => {
      await submitAll(store, 'mail', [
        aJob({ level: 2 }),
        aJob({ unique }),
        aJob({ foreground, level: 8 }),
        aJob({ dueAtMs: 9e15 }),
        aJob({ foreground, level: 8 }),
      ])
      await store.jobs.abandon('mail', [3])
      const { jobs, more } = await store.admin.listJobs('mail', 0, 10)
      expect(more).toBe(false)
      expect(idsOf(jobs)).toEqual([3, 5, 2, 1, 4])
      expect(jobs[0]).toEqual({
        lane: 'mail',
        id: 3,
        losses: 0,
        foreground: true,
        abandoned: true,
      })
      expect(jobs[1]).toMatchObject({ foreground: true, abandoned: false })
      expect(jobs[2]).toMatchObject({ foreground: false, abandoned: false, unique })
      await takeOne(store, 'mail')
      expect(idsOf((await store.admin.listJobs('mail', 0, 10)).jobs)).toEqual([2, 1, 4, 5])
    })

    test('a job that is due later counts against the limit', async ({ store }) => {
      await store.admin.setLimits('mail', { high: 0, normal: 2, low: 0 })
      const later = aJob({ dueAtMs: Number.MAX_SAFE_INTEGER / 1000 })
      expect(await submitAll(store, 'mail', [later, later, aJob()])).toEqual([1, 2, 0])
      expect(await submitAll(store, 'mail', [later])).toEqual([0])
    })

    test('a long list comes in pages', async ({ store }) => {
      const ids = await submitAll(store, 'mail', copies(5))
      const pages = [0, 2, 4].map((from) => store.admin.listJobs('mail', from, 2))
      const listed = await Promise.all(pages)
      expect(listed.flatMap(({ jobs }) => idsOf(jobs))).toEqual(ids)
      expect(listed.map(({ more }) => more)).toEqual([true, true, false])
    })

    test('a lane is cleared in steps, except for running jobs', async ({ store }) => {
      await submitAll(store, 'mail', [
        aJob({ level: 9 }),
        aJob({ unique }),
        aJob({ dueAtMs: 9e15 }),
      ])
      await submitOne(store, 'mail', { jid: 'j-1' })
      const job = await takeOne(store, 'mail')
      expect(await store.admin.dropLane('mail', 9)).toBe('busy')
      await store.steps.finish('mail', [killed(job)])
      const cleared = [await dropPiece(store, 'mail', 2), await dropPiece(store, 'mail', 9)]
      expect(cleared.flatMap(({ ids }) => ids).sort()).toEqual([1, 2, 3, 4])
      expect(await findUnique(store, unique, ['mail'])).toEqual([])
      expect(await store.jobs.findJid('j-1')).toBeUndefined()
      expect((await store.admin.listJobs('mail', 0, 9)).jobs).toEqual([])
    })

    test('a lane is cleared of the callback of a batch too, whose last job goes', async ({
      store,
    }) => {
      const callback = { ...aJob({ door: 'faktory' }), jid: 'j-2' }
      await store.batches.create({
        bid: 'b1',
        description: '',
        complete: { lane: 'mail', job: callback },
      })
      await submitOne(store, 'mail', { door: 'faktory', batch: 'b1', dueAtMs: 9e15 })
      await store.batches.commit('b1')
      const { ids } = await dropPiece(store, 'mail', 9)
      // In a cluster a node pushes it afterwards, and the lane is a new one.
      const left = store.isSharded ? ['mail'] : []
      expect(ids).toEqual(store.isSharded ? [1] : [1, 2])
      expect([...(await store.lanes.all()).keys()]).toEqual(left)
      expect(await store.jobs.findJid('j-2')).toEqual(
        store.isSharded ? { lane: 'mail', id: 2 } : undefined,
      )
    })

    test('a lane with workers is not cleared', async ({ store }) => {
      await submitOne(store, 'mail')
      await store.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 0 }]]))
      expect(await store.admin.dropLane('mail', 9)).toBe('busy')
      await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 0 }]]))
      expect((await dropPiece(store, 'mail', 9)).ids).toEqual([1])
    })
  })
}
