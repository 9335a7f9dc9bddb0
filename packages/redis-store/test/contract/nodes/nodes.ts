import { describe, expect } from 'vitest'
import { LaneNames, type HeldRef, type Lease } from '@crossgear/core-scheduler'
import {
  aJob,
  allCompleted,
  bytes,
  completed,
  type ContractTests,
  dropPiece,
  fetch,
  idsOf,
  jobsOf,
  listening,
  namesOf,
  reclaimNode,
  requeued,
  seen,
  submitAll,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'
import type { StoreWorld } from '../store-world.ts'
import type { EventLog } from '../../event-log.ts'

async function submitNative({ native }: StoreWorld, lane: string): Promise<number> {
  const id = await native.write(lane, bytes('native'))
  await native.push(lane, id, 'normal')
  return id
}

/** Resolves when a node hears of a job in a lane: as an event of its own, or with others. */
async function hearsOfJob(log: EventLog, lane: string): Promise<void> {
  const isIt = (event: { readonly lane: string }): boolean => event.lane === lane
  await Promise.race([log.waitFor('created', isIt), log.waitFor('woken', isIt)])
}

function lanesOf(log: EventLog): ReadonlySet<string> {
  return new Set(log.events.flatMap((event) => ('lane' in event ? [event.lane] : [])))
}

/** Lanes, workers, deadlines and nodes that come and go. */
export function nodeContract({ open, test }: ContractTests): void {
  describe('nodes', () => {
    test('a node asks another, which answers it alone, and knows that a third is gone', async ({
      world,
    }) => {
      const a = await listening(world)
      const b = await listening(world)
      const bystander = await listening(world)
      const question = 'who\0has "Åsa"?'
      expect(await a.store.events.send(b.store.node, 'ask', 7, question)).toBe(true)
      const asked = await b.log.waitFor('asked')
      expect(asked).toMatchObject({ node: a.store.node, number: 7, text: question })
      await b.store.events.send(a.store.node, 'answer', 7, 'nobody')
      const answered = await a.log.waitFor('answered')
      expect(answered).toMatchObject({ node: b.store.node, number: 7, text: 'nobody' })
      expect(bystander.log.events).toEqual([])
      await bystander.store.close()
      const isThere = (): Promise<boolean> =>
        a.store.events.send(bystander.store.node, 'ask', 8, question)
      // A cluster cannot know.
      if (!a.store.isSharded) await expect.poll(isThere).toBe(false)
    })

    test('a lane has one number, whichever node creates it, and both are notified', async ({
      world,
    }) => {
      const a = await listening(world)
      const b = await listening(world)
      const numbers = await Promise.all([
        a.store.lanes.register('mail'),
        b.store.lanes.register('mail'),
        b.store.lanes.register('sms'),
      ])
      expect(numbers[0]).toBe(numbers[1])
      expect(new Set(numbers).size).toBe(2)
      const [number] = numbers
      for (const { log } of [a, b]) {
        expect(await log.waitFor('laneAdded', ({ lane }) => lane === 'mail')).toMatchObject({
          number,
        })
        await log.waitFor('laneAdded', ({ lane }) => lane === 'sms')
        expect(log.events).toHaveLength(2)
      }
      expect(Object.fromEntries(await a.store.lanes.all())).toEqual({
        mail: number,
        sms: numbers[2],
      })
    })

    test('workers of all nodes and native ones count together', async ({ world }) => {
      const [a, b] = [await world.node(), await world.node()]
      const workers = async (): Promise<number | undefined> =>
        (await a.lanes.counts(['mail']))[0]?.workers
      await a.lanes.setWorkers(new Map([['mail', { named: 2, consumers: 1 }]]))
      await b.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 0 }]]))
      expect(await workers()).toBe(3)
      await a.lanes.open('mail')
      expect(await workers()).toBe(4)
      await world.native.count('mail', 1)
      await a.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 1 }]]))
      await a.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 1 }]]))
      expect(await workers()).toBe(4)
      await world.native.count('mail', -1)
      await a.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 0 }]]))
      expect(await workers()).toBe(1)
    })

    test('a node gets the list of its own unfinished leases, and of no other node’s', async ({
      world,
    }) => {
      const [a, b] = [await world.node(), await world.node()]
      await submitAll(a, 'mail', jobsOf(5, 5, 5))
      await submitAll(a, 'sms', jobsOf(5))
      const [one, two] = await take(a, ['mail'], 2)
      const [three] = await take(b, ['mail'])
      const [four] = await take(a, ['sms'], 1, { by: 'consumer' })
      await a.steps.finish('mail', [completed(one as Lease)])
      const nameOf = ({ lane, id, token }: HeldRef): HeldRef => ({ lane, id, token })
      expect(await a.jobs.held(['mail', 'sms', 'none'])).toEqual(
        [two, four].map((job) => nameOf(job as Lease)),
      )
      expect(await b.jobs.held(['mail', 'sms'])).toEqual([nameOf(three as Lease)])
    })

    test('all nodes are notified when a lane with jobs loses its last by-name worker', async ({
      world,
    }) => {
      const a = await world.node()
      const others = [await listening(world), await listening(world)]
      await submitAll(a, 'mail', jobsOf(5, 8, 1))
      for (const named of [2, 1, 0])
        await a.lanes.setWorkers(new Map([['mail', { named, consumers: 0 }]]))
      for (const { log } of others) {
        expect(await log.waitFor('woken')).toEqual({ kind: 'woken', lane: 'mail', jobs: 3 })
        expect(log.events.filter(({ kind }) => kind === 'woken')).toHaveLength(1)
      }
    })

    test('all nodes are notified of jobs that were given back or promoted', async ({ world }) => {
      const a = await world.node()
      const others = [await listening(world), await listening(world)]
      await submitOne(a, 'mail')
      await a.steps.finish('mail', [requeued(await takeOne(a, 'mail'))])
      for (const { log } of others) await log.waitFor('woken', ({ lane }) => lane === 'mail')
      const { nowMs } = await a.nodes.beat()
      await submitOne(a, 'sms', { dueAtMs: nowMs + 1_000 })
      await world.pass(1_001)
      await a.lanes.promote()
      for (const { log } of others) {
        await log.waitFor('woken', ({ lane, jobs }) => lane === 'sms' && jobs === 1)
      }
    })

    test('subscribed nodes hear of new jobs of other nodes, in their lanes alone', async ({
      world,
    }) => {
      const worker = await world.node()
      const one = await listening(world, ['mail'])
      const all = await listening(world, 'all')
      await submitOne(worker, 'sms')
      await hearsOfJob(all.log, 'sms')
      await worker.lanes.register('mail')
      await one.log.waitFor('laneAdded', ({ lane }) => lane === 'mail')
      one.log.clear()
      await submitOne(worker, 'mail')
      await Promise.all([one, all].map(({ log }) => hearsOfJob(log, 'mail')))
      expect(lanesOf(one.log)).toEqual(new Set(['mail']))
      await one.store.events.watch(new Set(['sms']))
      one.log.clear()
      await submitOne(worker, 'mail')
      await submitOne(worker, 'sms')
      await hearsOfJob(one.log, 'sms')
      expect(lanesOf(one.log)).toEqual(new Set(['sms']))
      await all.store.events.watch(new Set(['mail']))
      all.log.clear()
      await submitOne(worker, 'sms')
      await submitOne(worker, 'mail')
      await hearsOfJob(all.log, 'mail')
      expect(lanesOf(all.log)).toEqual(new Set(['mail']))
    })

    test.each([['by its name', 'heard'], ['by a pattern']])(
      'native programs that name a lane %s hear each event of its jobs, whatever nodes listen',
      async (_how, named?: string) => {
        const world = await open()
        const [{ store }] = [await listening(world, ['heard']), await listening(world, 'all')]
        const heard = await world.hear(named)
        // A lane of its own: in a cluster what an earlier test published may come late.
        const ids = await submitAll(store, 'heard', jobsOf(5, 5))
        const jobs = await take(store, ['heard'], 2)
        const ends = allCompleted(jobs)
        await store.steps.finish('heard', ends)
        const events = ['create', 'start', 'finish'].flatMap((event) =>
          ids.map((id) => `heard ${event}:${id}`),
        )
        const ofLane = (): readonly string[] => heard.filter((event) => event.startsWith('heard '))
        await expect.poll(ofLane).toEqual(events)
      },
    )

    test('a node that watches each event hears what becomes of all jobs', async ({ world }) => {
      const [{ store }, { log }] = [await listening(world, 'all'), await listening(world, 'each')]
      const [id] = await submitAll(store, 'watched', jobsOf(5))
      await store.steps.finish('watched', [completed(await takeOne(store, 'watched'))])
      const isIt = ({ lane }: { readonly lane: string }): boolean => lane === 'watched'
      await log.waitFor('finished', isIt)
      expect(log.events.filter((event) => 'id' in event && isIt(event))).toEqual(
        ['created', 'started', 'finished'].map((kind) => ({ kind, lane: 'watched', id })),
      )
    })

    test('subscribed nodes hear what native programs do, in their lanes alone', async ({
      world,
    }) => {
      const one = await listening(world, ['mail'])
      const all = await listening(world, 'all')
      const id = await submitNative(world, 'mail')
      expect(await world.native.take('mail')).toBe(id)
      await world.native.finish('mail', id, 'success', bytes('done'))
      const kinds = ['created', 'finished', 'started'] as const
      // The servers of a cluster pass messages on, each in its own time.
      for (const { log } of [one, all]) {
        for (const kind of kinds) await log.waitFor(kind)
        const events = log.events.toSorted((left, right) => (left.kind < right.kind ? -1 : 1))
        expect(events).toEqual(kinds.map((kind) => ({ kind, lane: 'mail', id })))
      }
      await one.store.events.watch(new Set(['sms']))
      one.log.clear()
      await submitNative(world, 'mail')
      await submitNative(world, 'sms')
      await one.log.waitFor('created', ({ lane }) => lane === 'sms')
      expect(lanesOf(one.log)).toEqual(new Set(['sms']))
    })

    test('leases past their deadline are listed until an outcome ends them', async () => {
      const world = await open({ reserveForSeconds: 30 })
      const store = await world.node()
      const other = await world.node()
      await submitAll(store, 'mail', jobsOf(5, 5))
      await submitAll(store, 'sms', [aJob({ reserveForSeconds: 10 }), aJob()])
      const leased = await takeOne(store, 'mail', { leaseMs: 20_000 })
      await takeOne(store, 'mail')
      await fetch(store, 'default', ['sms'], 2)
      const late = async (): Promise<string[]> =>
        namesOf(await other.jobs.expired(['mail', 'sms'], 9)).sort()
      expect(await late()).toEqual([])
      await world.pass(10_001)
      expect(await late()).toEqual(['sms:1'])
      await world.pass(10_000)
      expect(await late()).toEqual(['mail:1', 'sms:1'])
      await world.pass(10_000)
      expect(await late()).toEqual(['mail:1', 'sms:1', 'sms:2'])
      expect(await other.jobs.expired(['sms'], 1)).toHaveLength(1)
      expect(await other.jobs.expired(['mail'], 9)).toMatchObject([
        { id: 1, token: leased.token, heldBy: 'named' },
      ])
      expect(await other.steps.finish('mail', [requeued(leased, true)])).toEqual(['requeued'])
      expect(await late()).toEqual(['sms:1', 'sms:2'])
      expect((await seen(store, 'mail', 2)).status).toBe('busy')
    })

    test('reclaiming a node gives back only the jobs of its by-name workers', async ({ world }) => {
      const [dead, alive] = [await world.node(), await world.node()]
      await submitAll(dead, 'mail', jobsOf(5, 5, 9, 5))
      const nine = await takeOne(dead, 'mail')
      const consumed = await takeOne(dead, 'mail', { by: 'consumer', queue: 'default' })
      const kept = await takeOne(alive, 'mail')
      expect(await reclaimNode(alive, dead.node, ['mail', 'sms'])).toEqual(['mail'])
      expect(await seen(alive, 'mail', nine.id)).toMatchObject({ status: 'idle' })
      expect(await seen(alive, 'mail', consumed.id)).toMatchObject({ token: consumed.token })
      expect(await seen(alive, 'mail', kept.id)).toMatchObject({ token: kept.token })
      expect(await dead.steps.finish('mail', [completed(nine), completed(consumed)])).toEqual([
        'unknown',
        'done',
      ])
      expect(idsOf(await take(alive, ['mail'], 9))).toEqual([nine.id, 4])
    })

    test('reclaiming a node removes its workers from the counts, and no others', async ({
      world,
    }) => {
      const [dead, alive] = [await world.node(), await world.node()]
      await dead.lanes.setWorkers(new Map([['mail', { named: 3, consumers: 2, labelled: 1 }]]))
      await alive.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 2, labelled: 1 }]]))
      await world.native.count('mail', 1)
      await reclaimNode(alive, dead.node, ['mail'])
      await reclaimNode(alive, dead.node, ['mail'])
      expect((await alive.lanes.counts(['mail']))[0]?.workers).toBe(3)
      await alive.lanes.open('mail')
      expect((await alive.lanes.counts(['mail']))[0]?.workers).toBe(4)
      expect(await world.violations()).toEqual([])
    })

    test('a consumer finds the jobs of a reclaimed node', async ({ world }) => {
      const [dead, alive] = [await world.node(), await world.node()]
      await submitOne(dead, 'mail')
      await take(dead, ['mail'])
      expect(await fetch(alive, 'default', ['mail', 'sms'])).toEqual([])
      await reclaimNode(alive, dead.node, ['mail'])
      expect(namesOf(await fetch(alive, 'default', ['mail', 'sms']))).toEqual(['mail:1'])
    })

    test('a heartbeat is seen by the others and changes with each beat, until its node is reclaimed', async ({
      world,
    }) => {
      const [a, b] = [await world.node(), await world.node()]
      await a.nodes.beat()
      const heard = async (): Promise<number | undefined> =>
        (await b.nodes.beat()).heartbeats.get(a.node)
      const first = await heard()
      expect(first).toBeDefined()
      expect(await heard()).toBe(first)
      await a.nodes.beat()
      const second = await heard()
      expect(second).not.toBe(first)
      await a.nodes.beat()
      expect(await heard()).not.toBe(second)
      expect((await b.nodes.beat()).heartbeats.has(b.node)).toBe(false)
      await reclaimNode(b, a.node, [])
      expect(await heard()).toBeUndefined()
    })

    test('a heartbeat tells how many lanes are registered', async ({ store }) => {
      await store.lanes.register('mail')
      await store.lanes.register('sms')
      expect((await store.nodes.beat()).lanes).toBe(2)
      await dropPiece(store, 'sms', 9)
      expect((await store.nodes.beat()).lanes).toBe(1)
    })

    test('a node that leaves gives back its jobs and does not count as dead', async ({ world }) => {
      const [a, b] = [await world.node(), await world.node()]
      await a.nodes.beat()
      await a.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 0 }]]))
      await submitOne(a, 'mail')
      await take(a, ['mail'])
      await a.nodes.leave(['mail'])
      expect((await b.lanes.counts(['mail']))[0]).toMatchObject({
        workers: 0,
        normal: 1,
        running: 0,
      })
      expect((await b.nodes.beat()).heartbeats.has(a.node)).toBe(false)
    })

    test('queues follow the routes: a lane of another queue is not part of this one', async () => {
      const world = await open({ names: new LaneNames(new Map([['mail', 'bulk']])) })
      const store = await world.node()
      await submitOne(store, 'mail')
      await submitOne(store, 'sms')
      await submitOne(store, 'sms@bulk')
      expect(namesOf(await fetch(store, 'default', ['sms', 'fax'], 9))).toEqual(['sms:1'])
      const bulk = await fetch(store, 'bulk', ['mail', 'sms@bulk'], 9)
      expect(namesOf(bulk).sort()).toEqual(['mail:1', 'sms@bulk:1'])
    })

    test('a lane with a new home queue is claimed by consumers of that one alone', async () => {
      const names = new LaneNames()
      const world = await open({ names })
      const store = await world.node()
      await submitOne(store, 'mail')
      await submitOne(store, 'sms')
      names.rehome(new Map([['mail', 'bulk']]))
      await store.lanes.rehome('mail', 'default')
      expect(namesOf(await fetch(store, 'default', ['sms', 'fax'], 9))).toEqual(['sms:1'])
      expect(namesOf(await fetch(store, 'bulk', ['mail', 'fax@bulk'], 9))).toEqual(['mail:1'])
    })
  })
}
