import { describe, expect } from 'vitest'
import { LaneNames } from '@crossgear/core-scheduler'
import {
  aJob,
  fetch,
  idsOf,
  jobsOf,
  listening,
  namesOf,
  submitAll,
  submitOne,
  take,
  type ContractTests,
  reclaimNode,
} from '../kit.ts'

const graceMs = 60_000
const nobody = { named: 0, consumers: 0 }
const one = { named: 1, consumers: 0 }

/** Lanes that are open to consumers. */
export function opennessContract({ open, test }: ContractTests): void {
  describe('lanes open and closed to consumers', () => {
    test('by-name workers close a lane, and after the last of them has left for the grace time', async () => {
      const world = await open({ graceMs })
      const [a, b] = [await world.node(), await world.node()]
      const lanes = ['mail', 'sms']
      await submitAll(a, 'mail', jobsOf(5, 5, 5))
      await submitOne(a, 'sms')
      await a.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 3 }]]))
      expect(namesOf(await fetch(b, 'default', lanes, 9))).toEqual(['sms:1'])
      await world.pass(2 * graceMs)
      expect(await fetch(b, 'default', ['mail'])).toEqual([])
      await a.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 3 }]]))
      expect(await fetch(b, 'default', lanes)).toEqual([])
      await world.pass(graceMs - 1_000)
      await b.lanes.heal(['mail'])
      expect(await fetch(b, 'default', ['mail'])).toEqual([])
      await world.pass(2_000)
      await b.lanes.heal(['mail'])
      expect(namesOf(await fetch(b, 'default', lanes))).toEqual(['mail:1'])
      expect(namesOf(await fetch(b, 'default', ['mail']))).toEqual(['mail:2'])
      expect(namesOf(await take(b, lanes, 1, { by: 'consumer' }))).toEqual(['mail:3'])
    })

    test('native workers close a lane as well, from the first look at it', async () => {
      const world = await open({ graceMs })
      const store = await world.node()
      await submitOne(store, 'mail')
      await world.native.count('mail', 1)
      expect(await fetch(store, 'default', ['mail'])).toEqual([])
      await store.lanes.heal(['mail'])
      await world.native.count('mail', -1)
      expect(await fetch(store, 'default', ['mail'])).toEqual([])
      await world.pass(graceMs + 1)
      await store.lanes.heal(['mail'])
      expect(idsOf(await fetch(store, 'default', ['mail']))).toEqual([1])
    })

    test('workers of a dead node keep their lanes closed for the grace time', async () => {
      const world = await open({ graceMs })
      const [dead, alive] = [await world.node(), await world.node()]
      await dead.lanes.setWorkers(new Map([['mail', one]]))
      await submitOne(alive, 'mail')
      await world.pass(10 * graceMs)
      await reclaimNode(alive, dead.node, ['mail'])
      await alive.lanes.heal(['mail'])
      expect(await fetch(alive, 'default', ['mail'])).toEqual([])
      await world.pass(graceMs + 1)
      await alive.lanes.heal(['mail'])
      expect(idsOf(await fetch(alive, 'default', ['mail']))).toEqual([1])
    })

    test('a shortened grace time also applies to workers seen before', async () => {
      const world = await open({ graceMs })
      const store = await world.node()
      await store.lanes.setWorkers(new Map([['mail', one]]))
      await store.lanes.setWorkers(new Map([['mail', nobody]]))
      await submitOne(store, 'mail')
      const hasty = await world.node({ graceMs: 1_000 })
      await hasty.lanes.heal(['mail'])
      await world.pass(1_001)
      await hasty.lanes.heal(['mail'])
      expect(idsOf(await fetch(hasty, 'default', ['mail']))).toEqual([1])
    })

    test('a new lane of a function is closed like its home lane, before any node reports it', async () => {
      const world = await open({ graceMs, names: new LaneNames() })
      const [works, submits] = [await world.node(), await world.node()]
      await works.lanes.register('mail')
      await works.lanes.setWorkers(new Map([['mail', one]]))
      await works.lanes.setWorkers(new Map([['sms', one]]))
      await works.lanes.setWorkers(new Map([['sms', nobody]]))
      await world.native.count('fax', 1)
      for (const lane of ['mail@bulk', 'sms@bulk', 'fax@bulk', 'free@bulk']) {
        await submits.lanes.register(lane)
        await submitOne(submits, lane)
      }
      const lanes = ['mail@bulk', 'sms@bulk', 'fax@bulk', 'free@bulk']
      expect(namesOf(await fetch(submits, 'bulk', lanes, 9))).toEqual(['free@bulk:1'])
      await world.pass(graceMs + 1)
      await submits.lanes.heal(lanes)
      expect(namesOf(await fetch(submits, 'bulk', lanes, 9)).sort()).toEqual([
        'fax@bulk:1',
        'mail@bulk:1',
        'sms@bulk:1',
      ])
    })

    test('workers that named another lane of the function alone close this one as well', async () => {
      const world = await open({ graceMs })
      const store = await world.node()
      await store.lanes.setWorkers(new Map([['mail', { ...nobody, elsewhere: 1 }]]))
      await submitOne(store, 'mail')
      expect((await store.lanes.counts(['mail']))[0]?.workers).toBe(0)
      expect(await fetch(store, 'default', ['mail'])).toEqual([])
    })

    test('an opened lane is given to consumers beside its by-name workers', async ({ store }) => {
      await submitAll(store, 'mail', jobsOf(5, 5, 5))
      await store.lanes.setWorkers(new Map([['mail', one]]))
      await store.lanes.open('mail')
      expect(idsOf(await fetch(store, 'default', ['mail', 'sms']))).toEqual([1])
      expect(idsOf(await take(store, ['mail']))).toEqual([2])
      await submitOne(store, 'mail')
      expect(namesOf(await fetch(store, 'default', ['mail', 'sms'], 9))).toEqual([
        'mail:3',
        'mail:4',
      ])
    })

    test('the counts of a lane show whether consumers get its jobs, and why', async () => {
      const world = await open({ graceMs })
      const store = await world.node()
      const opennessOf = async (lane: string) => (await store.lanes.counts([lane]))[0]?.openness
      expect(await opennessOf('mail')).toBe('auto')
      await submitOne(store, 'mail')
      expect(await opennessOf('mail')).toBe('auto')
      await store.lanes.setWorkers(new Map([['mail', one]]))
      expect(await opennessOf('mail')).toBe('closed')
      await store.lanes.open('mail')
      expect(await opennessOf('mail')).toBe('open')
      await store.lanes.close('mail')
      expect(await opennessOf('mail')).toBe('shut')
      await store.lanes.close('empty')
      expect(await opennessOf('empty')).toBe('shut')
    })

    test('consumers are workers of a lane while they may get its jobs', async () => {
      const world = await open({ graceMs })
      const store = await world.node()
      const workers = async () => {
        const all = await store.lanes.counts(['mail'], true)
        const found = [
          ...all,
          ...(await store.lanes.counts(['mail'])),
          ...(await store.lanes.sizes(['mail'])),
        ].map((counts) => counts.workers)
        expect(new Set(found).size).toBe(1)
        return found[0]
      }
      const set = (named: number, consumers: number, labelled = 0) =>
        store.lanes.setWorkers(new Map([['mail', { named, consumers, labelled }]]))
      await set(0, 3)
      expect(await workers()).toBe(3)
      await set(2, 3)
      expect(await workers()).toBe(2)
      await set(2, 3, 1)
      expect(await workers()).toBe(3)
      await set(0, 3, 1)
      expect(await workers()).toBe(1)
      await set(0, 2)
      expect(await workers()).toBe(0)
      await world.pass(graceMs + 1)
      expect(await workers()).toBe(2)
      await world.native.count('mail', 1)
      expect(await workers()).toBe(1)
      await store.lanes.open('mail')
      expect(await workers()).toBe(3)
      await store.lanes.close('mail')
      expect(await workers()).toBe(1)
      await world.native.count('mail', -1)
      expect(await workers()).toBe(0)
      expect(await world.violations()).toEqual([])
    })

    test('without the automatic rule, consumers are workers of opened lanes alone', async () => {
      const store = await (await open({ bridge: 'routed' })).node()
      const workers = async (): Promise<number | undefined> =>
        (await store.lanes.sizes(['mail']))[0]?.workers
      await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 2, labelled: 1 }]]))
      expect(await workers()).toBe(1)
      await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 2 }]]))
      expect(await workers()).toBe(0)
      await submitOne(store, 'mail')
      expect(await store.lanes.heal(['mail'])).toEqual(['mail'])
      await store.lanes.open('mail')
      expect(await workers()).toBe(2)
      expect(await store.lanes.heal(['mail'])).toEqual([])
    })

    test('all nodes are notified when a lane with jobs is opened or closed', async ({
      world,
      store,
    }) => {
      const nodes = [await listening(world), await listening(world)]
      await submitOne(store, 'mail')
      await store.lanes.open('mail')
      for (const { log } of nodes) await log.waitFor('woken', ({ lane }) => lane === 'mail')
      await store.lanes.close('mail')
      for (const { log } of nodes) await log.waitFor('laneClosed', ({ lane }) => lane === 'mail')
    })

    test('a closed lane stays closed, whichever workers were seen, until it is opened', async () => {
      const world = await open({ graceMs })
      const store = await world.node()
      await store.lanes.open('mail')
      await submitAll(store, 'mail', jobsOf(5, 5))
      await store.lanes.close('mail')
      await world.pass(2 * graceMs)
      await store.lanes.heal(['mail'])
      expect(await fetch(store, 'default', ['mail', 'sms'])).toEqual([])
      expect(await fetch(store, 'default', ['mail'])).toEqual([])
      expect(idsOf(await take(store, ['mail']))).toEqual([1])
      await store.lanes.open('mail')
      expect(idsOf(await fetch(store, 'default', ['mail', 'sms']))).toEqual([2])
    })

    test('a consumer that has no automatic lanes gets opened ones alone', async ({ store }) => {
      for (const lane of ['auto', 'opened']) await submitAll(store, lane, jobsOf(5, 5))
      await store.lanes.open('opened')
      const lanes = ['auto', 'opened']
      const claim = (groups: readonly object[]) =>
        store.steps.claim({ by: 'consumer', access: 'opened', groups: groups as never, max: 1 })
      expect(namesOf(await claim([{ lanes, queue: 'default' }]))).toEqual(['opened:1'])
      expect(namesOf(await claim([{ lanes }]))).toEqual(['opened:2'])
      expect(await claim([{ lanes: ['auto'], queue: 'default' }])).toEqual([])
      await store.lanes.heal(lanes)
      expect(namesOf(await fetch(store, 'default', lanes, 9))).toEqual(['auto:1', 'auto:2'])
    })

    test('a consumer that named its functions gets them from closed lanes', async ({ store }) => {
      await store.lanes.setWorkers(new Map([['mail', one]]))
      await submitAll(store, 'mail', jobsOf(5, 5))
      const claim = (lanes: readonly string[]) =>
        store.steps.claim({ by: 'consumer', access: 'any', groups: [{ lanes }], max: 1 })
      expect(idsOf(await claim(['mail']))).toEqual([1])
      expect(idsOf(await claim(['mail', 'sms']))).toEqual([2])
    })

    test('a job shows whether the automatic rule handed it out', async ({ store }) => {
      await submitAll(store, 'mail', jobsOf(5, 5))
      const [first] = await fetch(store, 'default', ['mail'])
      await store.lanes.open('mail')
      const [second] = await fetch(store, 'default', ['mail'])
      expect([first, second].map((job) => job?.token.charAt(0))).toEqual(['a', 'c'])
      expect([first, second].map((job) => job?.heldBy)).toEqual(['consumer', 'consumer'])
    })

    test('closed lanes with jobs and without their own workers are reported if their queue has consumers', async () => {
      const world = await open({ graceMs })
      const store = await world.node()
      const lanes = ['mail', 'sms', 'fax', 'free']
      for (const lane of lanes) {
        await store.lanes.setWorkers(
          new Map([[lane, { named: lane === 'free' ? 0 : 1, consumers: 1 }]]),
        )
      }
      for (const lane of ['mail', 'sms', 'free']) await store.steps.submit(lane, [aJob()])
      expect(await store.lanes.heal(lanes)).toEqual([])
      await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 1 }]]))
      await store.lanes.setWorkers(new Map([['fax', { named: 0, consumers: 1 }]]))
      expect(await store.lanes.heal(lanes)).toEqual(['mail'])
      await store.lanes.setWorkers(new Map([['mail', nobody]]))
      expect(await store.lanes.heal(lanes)).toEqual([])
      await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 2, labelled: 1 }]]))
      expect(await store.lanes.heal(lanes)).toEqual([])
      await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 1 }]]))
      expect(await store.lanes.heal(lanes)).toEqual(['mail'])
      await store.lanes.open('mail')
      expect(await store.lanes.heal(lanes)).toEqual([])
    })
  })
}
