import { describe, expect } from 'vitest'
import {
  bytes,
  completed,
  type ContractTests,
  killed,
  listening,
  pushNative,
  submitOne,
  takeOne,
} from '../kit.ts'

const leaseMs = 60_000

/** Looks at lanes behind the events: marks, wake-ups for silent pushes, and the index of deadlines. */
export function looksContract({ open, test }: ContractTests): void {
  describe('marks of lanes', () => {
    test('change with a native job before it is pushed, and with a native worker; no other does', async ({
      world,
      store,
    }) => {
      const lanes = ['mail', 'sms']
      const before = await store.lanes.marks(lanes)
      expect(await store.lanes.marks(lanes)).toEqual(before)
      const id = await world.native.write('sms', bytes('in'))
      const written = await store.lanes.marks(lanes)
      expect(written.map((mark, at) => mark === before[at])).toEqual([true, false])
      await world.native.push('sms', id, 'normal')
      expect(await store.lanes.marks(lanes)).toEqual(written)
      await world.native.count('mail', 1)
      const counted = await store.lanes.marks(lanes)
      expect(counted.map((mark, at) => mark === written[at])).toEqual([false, true])
    })
  })

  describe('a heal', () => {
    test('wakes every node for jobs that were pushed without a word, and for no others', async ({
      world,
    }) => {
      const nodes = [await listening(world, 'all'), await listening(world, 'all')]
      await pushNative(world, 'sms', 'normal', bytes('in'))
      await nodes[0]?.store.lanes.heal(['fax', 'sms'])
      for (const { store, log } of nodes) {
        await log.waitFor('woken', ({ lane }) => lane === 'sms')
        await store.events.delivered()
        const woken = log.events.filter(({ kind }) => kind === 'woken')
        expect(woken.filter((event) => 'lane' in event && event.lane === 'fax')).toEqual([])
      }
    })
  })

  describe('the index of deadlines', () => {
    test('names a lane once the first of its leases has ended, once', async ({ world, store }) => {
      await submitOne(store, 'mail')
      await submitOne(store, 'sms')
      await takeOne(store, 'mail', { leaseMs })
      await takeOne(store, 'sms', { leaseMs: 2 * leaseMs })
      await store.lanes.noteDeadlines(['fax', 'mail', 'sms'])
      expect(await store.lanes.overdue(9)).toEqual([])
      await world.pass(leaseMs + 1)
      expect(await store.lanes.overdue(9)).toEqual(['mail'])
      expect(await store.lanes.overdue(9)).toEqual([])
    })

    test('keeps the earliest time that was noted, and names at most as many lanes as asked for', async ({
      world,
      store,
    }) => {
      for (const lane of ['mail', 'sms']) {
        await submitOne(store, lane)
        await submitOne(store, lane)
        await takeOne(store, lane, { leaseMs })
        await store.lanes.noteDeadlines([lane])
        await takeOne(store, lane, { leaseMs: 2 * leaseMs })
        await store.lanes.noteDeadlines([lane])
      }
      await world.pass(leaseMs + 1)
      const found = [...(await store.lanes.overdue(1)), ...(await store.lanes.overdue(1))]
      expect(found.sort()).toEqual(['mail', 'sms'])
    })

    test('leaves out leases that have no end', async ({ world, store }) => {
      await submitOne(store, 'mail')
      await takeOne(store, 'mail')
      await store.lanes.noteDeadlines(['mail'])
      await world.pass(400 * 24 * 3_600_000)
      expect(await store.lanes.overdue(9)).toEqual([])
    })

    test('names a lane whose dead jobs’ time is up, whether or not it was healed before', async () => {
      const world = await open({ deadSeconds: 60 })
      const store = await world.node()
      await submitOne(store, 'mail')
      await store.steps.finish('mail', [killed(await takeOne(store, 'mail'))])
      if (store.isSharded) await store.lanes.heal(['mail'])
      await world.pass(61_000)
      expect(await store.lanes.overdue(9)).toEqual(['mail'])
      await store.lanes.heal(['mail'])
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ dead: 0, forgotten: 1 })
      expect(await store.lanes.overdue(9)).toEqual([])
    })

    test('gets a lane’s next deadline from a heal', async ({ world, store }) => {
      await submitOne(store, 'mail')
      await submitOne(store, 'mail')
      const first = await takeOne(store, 'mail', { leaseMs })
      await takeOne(store, 'mail', { leaseMs: 3 * leaseMs })
      await store.lanes.noteDeadlines(['mail'])
      await store.steps.finish('mail', [completed(first, 'out')])
      await world.pass(leaseMs + 1)
      expect(await store.lanes.overdue(9)).toEqual(['mail'])
      await store.lanes.heal(['mail'])
      await world.pass(leaseMs)
      expect(await store.lanes.overdue(9)).toEqual([])
      await world.pass(leaseMs + 1)
      expect(await store.lanes.overdue(9)).toEqual(['mail'])
    })
  })
}
