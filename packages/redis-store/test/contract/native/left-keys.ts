import { describe, expect } from 'vitest'
import type { JobPlace, RepairRequest } from '@crossgear/core-scheduler'
import {
  bytes,
  completed,
  idsOf,
  listening,
  lookAtAll,
  native,
  readOne,
  seen,
  submitOne,
  take,
  type ContractTests,
  dropPiece,
} from '../kit.ts'

const lease = {
  leaseMs: 10_000,
  mends: 'strays',
  max: 50,
  maxLosses: 0,
  failure: '{}',
} satisfies RepairRequest
const unique = bytes('one of a kind')
const allPlaces: readonly JobPlace[] = ['high', 'normal', 'low', 'scheduled', 'dead', 'busy']

/** Unique keys of jobs whose native workers died. */
export function leftKeyContract({ open, test }: ContractTests): void {
  describe('a unique key that a native worker died with', () => {
    test('stays with its job, which is queued again, if that was not busy', async ({
      world,
      store,
    }) => {
      const id = await submitOne(store, 'mail', { unique })
      await world.native.pop('mail')
      await lookAtAll(store)
      expect(await submitOne(store, 'mail', { unique })).toBe(id)
      await world.pass(10_001)
      expect(await store.native.repair(['mail'], lease)).toEqual([
        { kind: 'stray', lane: 'mail', id },
      ])
      expect(idsOf(await take(store, ['mail'], 9))).toEqual([id])
    })

    test('is free after a lease if the job was busy, which stays unchanged', async ({
      world,
      store,
    }) => {
      const id = await submitOne(store, 'mail', { unique })
      await world.native.take('mail')
      await lookAtAll(store)
      expect(await store.native.repair(['mail'], lease)).toEqual([])
      expect(await submitOne(store, 'mail', { unique })).toBe(id)
      await world.pass(10_001)
      const left = [{ kind: 'busy', lane: 'mail', id, left: true }]
      expect(await store.native.repair(['mail'], lease)).toEqual(left)
      expect(await store.native.repair(['mail'], lease)).toEqual([])
      const other = await submitOne(store, 'mail', { unique })
      expect(other).toBeGreaterThan(id)
      expect((await seen(store, 'mail', id)).status).toBe('busy')
      expect(idsOf(await take(store, ['mail'], 9))).toEqual([other])
      // A worker that was only slow ends its own job alone.
      await world.native.finish('mail', id, 'success', bytes('late'))
      await store.steps.finish('mail', [completed(native('mail', id))])
      expect(await submitOne(store, 'mail', { unique })).toBe(other)
    })

    test('stays with a job whose native worker shows activity', async ({ world, store }) => {
      const id = await submitOne(store, 'mail', { unique })
      await world.native.take('mail')
      await lookAtAll(store)
      await world.pass(9_000)
      await world.native.progress('mail', id, '1', '2')
      await lookAtAll(store)
      await world.pass(1_001)
      expect(await store.native.repair(['mail'], lease)).toEqual([])
      expect(await submitOne(store, 'mail', { unique })).toBe(id)
      await world.native.finish('mail', id, 'success', bytes('out'))
      await store.steps.finish('mail', [completed(native('mail', id))])
    })

    test('does not cause counts to be corrected', async ({ world, store }) => {
      await world.native.count('mail', 1)
      await submitOne(store, 'mail')
      await store.native.workedLanes(['mail'], true)
      await world.pass(10_001)
      expect(await store.native.repair(['mail'], lease)).toEqual([])
      await world.native.count('mail', -1)
    })

    test.each(['idle', 'busy'] as const)('is free when the %s job is cancelled', async (status) => {
      const world = await open()
      const [store, client] = [await world.node(), await listening(world)]
      const id = await submitOne(client.store, 'mail', { unique, foreground: true })
      await (status === 'idle' ? world.native.pop('mail') : world.native.take('mail'))
      expect(await store.admin.cancel('mail', id)).toBe(true)
      expect(await store.admin.cancel('mail', id)).toBe(false)
      await client.log.waitFor('relayed', ({ ref }) => ref.id === id)
      expect(await submitOne(store, 'mail', { unique })).toBeGreaterThan(id)
    })

    test.each(['dropped', 'flushed'] as const)('is free when its lane is %s', async (how) => {
      const world = await open()
      const store = await world.node()
      const idle = await submitOne(store, 'mail', { unique, jid: 'j-1' })
      await world.native.pop('mail')
      const busy = await submitOne(store, 'mail', { unique: bytes('other') })
      await world.native.take('mail')
      const queued = await submitOne(store, 'mail')
      const nameless = [await submitOne(store, 'sms'), await submitOne(store, 'sms')]
      await world.native.pop('sms')
      await world.native.take('sms')
      const clear = (lane: string) =>
        how === 'dropped'
          ? dropPiece(store, lane, 9).then(({ ids }) => ids)
          : store.queues.endJobs(lane, allPlaces, 9)
      expect([...(await clear('mail'))].sort()).toEqual([idle, busy, queued])
      expect(await clear('sms')).toEqual([])
      const next = await submitOne(store, 'mail', { unique })
      expect(next).toBeGreaterThan(queued)
      expect(await store.jobs.findJid('j-1')).toBeUndefined()
      // Jobs that no index names are ended when met, and do not come back.
      const fresh = await submitOne(store, 'sms')
      await lookAtAll(store)
      for (const id of nameless) expect(await readOne(store, 'sms', id)).toBeUndefined()
      expect(idsOf(await take(store, ['sms', 'mail'], 9)).sort()).toEqual([next, fresh].sort())
    })

    test('is free when the native worker lives, and writes the outcome of its flushed job', async ({
      world,
      store,
    }) => {
      const id = await submitOne(store, 'mail', { unique })
      await world.native.take('mail')
      await store.queues.endJobs('mail', allPlaces, 9)
      await world.native.finish('mail', id, 'success', bytes('late'))
      expect(await readOne(store, 'mail', id)).toMatchObject({ status: 'success' })
      expect(await submitOne(store, 'mail', { unique })).toBe(id + 1)
      await lookAtAll(store)
      expect(idsOf(await take(store, ['mail'], 9))).toEqual([id + 1])
    })
  })
}
