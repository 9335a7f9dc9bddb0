import { describe, expect } from 'vitest'
import type { RepairRequest } from '@crossgear/core-scheduler'
import {
  bytes,
  completed,
  type ContractTests,
  fetch,
  idsOf,
  listening,
  lookAtAll,
  native,
  pushNative,
  readOne,
  seen,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

const lease = {
  leaseMs: 10_000,
  mends: 'all',
  max: 50,
  maxLosses: 0,
  failure: '{"errtype":"WorkersLost"}',
} satisfies RepairRequest
const minute = 60_000

/** Orphans of native programs that died. */
export function orphanContract({ open, test }: ContractTests): void {
  describe('orphans of native programs', () => {
    test('a busy job whose worker went silent goes back, once, and not before its time', async ({
      world,
      store,
    }) => {
      const other = await listening(world)
      await submitOne(store, 'mail', { level: 9 })
      const id = (await world.native.take('mail')) ?? 0
      await lookAtAll(store)
      expect(await store.native.repair(['mail'], lease)).toEqual([])
      await world.pass(10_001)
      const both = [store, other.store].map((node) => node.native.repair(['mail'], lease))
      expect((await Promise.all(both)).flat()).toEqual([{ kind: 'busy', lane: 'mail', id }])
      await other.log.waitFor('woken', ({ lane }) => lane === 'mail')
      expect((await take(store, ['mail'], 9)).map((job) => [job.id, job.losses])).toEqual([[id, 1]])
    })

    test('progress counts as activity', async ({ world, store }) => {
      await submitOne(store, 'mail')
      const id = (await world.native.take('mail')) ?? 0
      await lookAtAll(store)
      await world.pass(9_000)
      await world.native.progress('mail', id, '1', '2')
      await lookAtAll(store)
      await world.pass(9_000)
      expect(await store.native.repair(['mail'], lease)).toEqual([])
      await world.pass(1_001)
      expect(await store.native.repair(['mail'], lease)).toHaveLength(1)
      expect((await seen(store, 'mail', id)).dividend).toBeUndefined()
    })

    test('a job that went back too often is given up where losses are limited', async ({
      world,
      store,
    }) => {
      const id = await pushNative(world, 'mail')
      await world.native.take('mail')
      await lookAtAll(store)
      await world.pass(10_001)
      expect(await store.native.repair(['mail'], { ...lease, maxLosses: 1 })).toHaveLength(1)
      expect(await seen(store, 'mail', id)).toMatchObject({ status: 'error' })
      expect(await world.native.locks('mail', id)).toBe(1)
    })

    test('an idle job in no queue is queued; those in queues stay', async ({ world, store }) => {
      const stray = await world.native.write('mail', bytes('stray'))
      const queued: number[] = []
      for (const band of ['high', 'normal', 'low'] as const) {
        const id = await pushNative(world, 'mail', band, bytes(band))
        queued.push(id)
      }
      const later = await world.native.write('mail', bytes('later'))
      await world.native.schedule('mail', later, minute)
      await lookAtAll(store)
      await world.pass(10_001)
      expect(await store.native.repair(['mail'], lease)).toEqual([
        { kind: 'stray', lane: 'mail', id: stray },
      ])
      expect(idsOf(await take(store, ['mail'], 9)).sort()).toEqual([stray, ...queued])
    })

    test('jobs that others repaired in time are not touched', async ({ world, store }) => {
      const late = await world.native.write('mail', bytes('late'))
      await submitOne(store, 'sms')
      const slow = (await world.native.take('sms')) ?? 0
      await lookAtAll(store)
      await world.native.push('mail', late, 'low')
      await world.native.finish('sms', slow, 'success', bytes('out'))
      await world.pass(10_001)
      expect(await store.native.repair(['mail', 'sms'], lease)).toEqual([])
      await store.steps.finish('sms', [completed(native('sms', slow))])
    })

    test('leases of workers behind nodes are not orphans', async ({ world, store }) => {
      await submitOne(store, 'mail')
      await takeOne(store, 'mail')
      await lookAtAll(store)
      await world.pass(minute)
      expect(await store.native.repair(['mail'], lease)).toEqual([])
    })

    test('a dry run changes nothing and reports each once per lease', async ({ world, store }) => {
      const dry = { ...lease, mends: 'nothing' } as const
      const id = await world.native.write('mail', bytes('stray'))
      await world.native.count('mail', -1)
      await lookAtAll(store)
      await store.native.workedLanes(['mail'], true)
      await world.pass(10_001)
      const reported = [
        { kind: 'stray', lane: 'mail', id },
        { kind: 'count', lane: 'mail', id: 0 },
      ]
      expect(await store.native.repair(['mail'], dry)).toEqual(reported)
      expect(await store.native.repair(['mail'], dry)).toEqual([])
      await world.pass(10_001)
      expect(await store.native.repair(['mail'], dry)).toEqual(reported)
      expect(await take(store, ['mail'])).toEqual([])
      expect((await store.lanes.counts(['mail']))[0]?.workers).toBe(-1)
      await world.native.count('mail', 1)
    })

    test('a count without workers is corrected when the next job has waited for a lease', async ({
      world,
      store,
    }) => {
      await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 1 }]]))
      await world.native.count('mail', 1)
      await submitOne(store, 'mail')
      expect(await fetch(store, 'default', ['mail'])).toEqual([])
      await store.native.workedLanes(['mail'], true)
      expect(await store.native.repair(['mail'], lease)).toEqual([])
      await world.pass(10_001)
      await store.native.workedLanes(['mail'], true)
      expect(await store.native.repair(['mail'], lease)).toEqual([
        { kind: 'count', lane: 'mail', id: 1 },
      ])
      expect((await store.lanes.counts(['mail']))[0]?.workers).toBe(1)
      expect(idsOf(await fetch(store, 'default', ['mail']))).toEqual([1])
      expect(await readOne(store, 'mail', 1)).toMatchObject({ status: 'busy' })
    })

    test('a count stays while a native worker is busy, takes jobs, or has nothing to do', async ({
      world,
      store,
    }) => {
      for (const lane of ['busy', 'taking', 'resting']) await world.native.count(lane, 1)
      const lanes = ['busy', 'taking', 'resting']
      for (const lane of ['busy', 'busy', 'taking', 'taking']) await submitOne(store, lane)
      const id = (await world.native.take('busy')) ?? 0
      await lookAtAll(store)
      await store.native.workedLanes(lanes, true)
      await world.pass(9_000)
      const taken = (await world.native.take('taking')) ?? 0
      await world.native.finish('taking', taken, 'success', bytes('out'))
      await store.native.workedLanes(lanes, true)
      await world.pass(1_001)
      await world.native.progress('busy', id, '1', '2')
      await lookAtAll(store)
      expect(await store.native.repair(lanes, lease)).toEqual([])
      const counts = await store.lanes.counts(lanes)
      expect(counts.map(({ workers }) => workers)).toEqual([1, 1, 1])
      await store.steps.finish('taking', [completed(native('taking', taken))])
    })

    test("a count below the nodes' own is corrected at once", async () => {
      const world = await open()
      const store = await world.node()
      await store.lanes.setWorkers(new Map([['mail', { named: 2, consumers: 0 }]]))
      await world.native.count('mail', -1)
      await store.native.workedLanes(['mail'], true)
      expect(await store.native.repair(['mail'], lease)).toEqual([
        { kind: 'count', lane: 'mail', id: 0 },
      ])
      expect((await store.lanes.counts(['mail']))[0]?.workers).toBe(2)
    })
  })
}
