import type { Outcome } from '@crossgear/core-scheduler'
import { describe, expect } from 'vitest'
import type { SteppedStore } from '../store-world.ts'
import {
  aJob,
  bytes,
  completed,
  type ContractTests,
  failed,
  findUnique,
  killed,
  listening,
  lookAtAll,
  native,
  pushNative,
  requeued,
  retried,
  seen,
  submitAll,
  submitOne,
  sweepAll,
  takeOne,
} from '../kit.ts'
import type { StoreWorld } from '../store-world.ts'

const unique = bytes('one of a kind')
const minute = 60_000

/** A job of a native client, held by a worker behind a node. */
async function heldNative(world: StoreWorld, store: SteppedStore) {
  await pushNative(world, 'mail')
  return takeOne(store, 'mail')
}

/** Native workers on jobs of all doors, and the rights of native clients. */
export function nativeContract({ open, test }: ContractTests): void {
  describe('native workers’ outcomes', () => {
    test('two nodes that settle the same job settle it once', async ({ world }) => {
      const nodes = [await world.node(), await world.node()]
      const [one, other] = nodes as [SteppedStore, SteppedStore]
      await submitOne(one, 'mail', { unique, jid: 'j-1' })
      await submitOne(one, 'mail', { retries: 3 })
      for (const status of ['success', 'error'] as const) {
        const id = (await world.native.take('mail')) ?? 0
        await world.native.finish('mail', id, status, bytes('out'))
      }
      const outcomes = [completed(native('mail', 1)), retried(native('mail', 2), minute)]
      const results = await Promise.all(nodes.map((node) => node.steps.finish('mail', outcomes)))
      expect(results.flat().sort()).toEqual(['done', 'done', 'unknown', 'unknown'])
      expect((await other.lanes.counts(['mail']))[0]).toMatchObject({ completed: 1, retried: 1 })
      expect(await findUnique(other, unique, ['mail'])).toEqual([])
      expect(await other.jobs.findJid('j-1')).toBeUndefined()
      expect(await world.secondsLeft('mail', 1)).toBeUndefined()
      expect(await world.secondsLeft('mail', 2)).toBe(Infinity)
    })

    test('retention of a settled job is that of its door, not the native worker’s', async ({
      world,
      store,
    }) => {
      await submitOne(store, 'mail', { retentionSeconds: 60 })
      const id = (await world.native.take('mail')) ?? 0
      await world.native.finish('mail', id, 'success', bytes('out'))
      await store.steps.finish('mail', [completed(native('mail', id), 'out')])
      expect(await world.secondsLeft('mail', id)).toBe(60)
    })

    test('the finish of a job that a native worker ended is published once', async ({ world }) => {
      // A lane of its own: in a cluster what an earlier test published may come late.
      const lane = 'published-once'
      const { store } = await listening(world, [lane])
      const heard = await world.hear(lane)
      for (let job = 0; job < 3; job += 1) await submitOne(store, lane)
      const [done, dead, cut] = [1, 2, 3]
      for (const id of [done, dead, cut]) {
        await world.native.take(lane)
        if (id !== cut) await world.native.finish(lane, id, 'error', bytes('out'))
      }
      // The worker of the job dies before it announces the end of the job.
      await world.native.conclude(lane, cut, 'success', bytes('out'))
      await store.steps.finish(lane, [
        completed(native(lane, done)),
        killed(native(lane, dead)),
        completed(native(lane, cut)),
      ])
      // The servers of a cluster pass messages on, each in its own time.
      const ends = (): readonly string[] => heard.filter((event) => event.includes(' finish:'))
      await expect.poll(() => ends().length).toBeGreaterThanOrEqual(3)
      await store.events.delivered()
      expect(ends().toSorted()).toEqual([done, dead, cut].map((id) => `${lane} finish:${id}`))
    })

    test('a walk through all jobs returns how many it checked', async ({ store }) => {
      for (const lane of ['mail', 'mail', 'sms']) await submitOne(store, lane)
      let jobs = 0
      for (let ended = false; !ended;) {
        const page = await store.native.survey(true)
        jobs += page.jobs
        ended = page.lapEnded
      }
      expect(jobs).toBe(3)
    })

    test('a result whose worker died before it set an expiry gets one, and its client is released once', async ({
      world,
      store,
    }) => {
      const id = await world.native.write('mail', bytes('native'))
      await world.native.conclude('mail', id, 'success', bytes('out'))
      expect(await world.secondsLeft('mail', id)).toBe(Infinity)
      for (let look = 0; look < 2; look += 1) await lookAtAll(store, false)
      expect(await world.secondsLeft('mail', id)).toBe(90_000)
      expect(await world.native.locks('mail', id)).toBe(1)
    })

    test('a late expiry by a worker does not apply to a job that waits, runs again or is dead', async ({
      world,
      store,
    }) => {
      const ids = [await submitOne(store, 'mail'), await submitOne(store, 'mail')] as const
      for (const id of ids) {
        await world.native.take('mail')
        await world.native.conclude('mail', id, 'error', bytes('out'))
      }
      const [waiting, dead] = ids
      await store.steps.finish('mail', [
        retried(native('mail', waiting), minute),
        killed(native('mail', dead)),
      ])
      const ends = async (): Promise<unknown> => {
        for (const id of ids) await world.native.retain('mail', id)
        await lookAtAll(store, false)
        return Promise.all(ids.map((id) => world.secondsLeft('mail', id)))
      }
      expect(await ends()).toEqual([Infinity, Infinity])
      await world.pass(minute + 1)
      await store.lanes.promote()
      expect(await ends()).toEqual([Infinity, Infinity])
      await takeOne(store, 'mail')
      expect(await ends()).toEqual([Infinity, Infinity])
    })

    test('unsettled jobs are distinguished from all other finished jobs', async ({
      world,
      store,
    }) => {
      await submitOne(store, 'mail', { retentionSeconds: 60 })
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      await submitOne(store, 'mail', { unique })
      const ours = (await world.native.take('mail')) ?? 0
      const theirs = await world.native.write('mail', bytes('native'))
      await submitOne(store, 'mail')
      for (const id of [ours, theirs]) {
        await world.native.finish('mail', id, 'success', bytes('out'))
      }
      expect(await store.native.unsettled('mail', [1, ours, theirs, 4, 99])).toEqual([ours])
      expect((await store.native.sweep('mail', undefined)).ids).toEqual([ours])
      expect(await lookAtAll(store, false)).toEqual([ours])
    })

    test('an unsettled job is found by its jid alone', async ({ world, store }) => {
      await submitAll(store, 'mail', [aJob({ jid: 'j-1' }), aJob({ jid: 'j-2' })])
      const id = (await world.native.take('mail')) ?? 0
      await world.native.finish('mail', id, 'success', bytes('out'))
      expect(await sweepAll(store, 'mail')).toEqual([id])
      expect(await store.jobs.findJid('j-2')).toEqual({ lane: 'mail', id: 2 })
    })

    test('the indexes drop jobs whose record is gone', async ({ world, store }) => {
      await submitOne(store, 'mail', { unique, jid: 'j-1' })
      const id = (await world.native.take('mail')) ?? 0
      await world.native.finish('mail', id, 'success', bytes('out'))
      await world.expire('mail', id)
      await sweepAll(store, 'mail')
      expect(await findUnique(store, unique, ['mail'])).toEqual([])
      expect(await store.jobs.findJid('j-1')).toBeUndefined()
    })

    test('lanes made by native clients are found if they have jobs', async ({ world, store }) => {
      await world.native.write('idle', bytes('in no queue'))
      await pushNative(world, 'queued', 'low', bytes('in'))
      const later = await world.native.write('later', bytes('in'))
      await world.native.schedule('later', later, minute)
      for (const [known, expected] of [
        ['', ['later', 'queued']],
        ['queued', ['later']],
      ] as const) {
        const discover = () => store.lanes.discover((lane) => lane === known)
        const found = [...(await discover()), ...(await discover())]
        expect([...new Set(found)].sort()).toEqual(expected)
      }
    })

    test('lanes of native workers are distinguished from those of workers behind nodes', async ({
      world,
      store,
    }) => {
      await store.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 2 }]]))
      await store.lanes.setWorkers(new Map([['sms', { named: 1, consumers: 0 }]]))
      await world.native.count('sms', 1)
      const worked = (): Promise<readonly string[]> =>
        store.native.workedLanes(['mail', 'sms', 'fax'], false)
      expect(await worked()).toEqual(['sms'])
      await world.native.count('sms', -1)
      expect(await worked()).toEqual([])
    })

    test('one node at a time repairs native jobs, the next when it falls silent', async ({
      world,
    }) => {
      const [a, b] = [await world.node(), await world.node()]
      expect(await a.native.holdLeadership(minute)).toBe(true)
      expect(await b.native.holdLeadership(minute)).toBe(false)
      expect(await a.native.holdLeadership(minute)).toBe(true)
      await a.nodes.leave([])
      expect(await b.native.holdLeadership(minute)).toBe(true)
      expect(await a.native.holdLeadership(minute)).toBe(false)
    })
  })

  describe('marks of the broker on a job that it did not write', () => {
    test.each(['fg', 'settled'] as const)(
      '%s means nothing on a native client’s job: it runs, and is dead if it fails',
      async (mark) => {
        const world = await open()
        const store = await world.node()
        const id = await world.native.write('mail', bytes('native'))
        await world.native.mark('mail', id, mark)
        await world.native.push('mail', id, 'normal')
        await submitOne(store, 'mail')
        expect(await store.lanes.nonEmpty(['mail'])).toEqual(['mail'])
        const job = await takeOne(store, 'mail')
        expect(job).toMatchObject({ id, foreground: false, settled: false })
        await store.steps.finish('mail', [requeued(job, true)])
        expect((await takeOne(store, 'mail')).id).toBe(2)
        const again = await takeOne(store, 'mail')
        expect(again.id).toBe(id)
        await store.steps.finish('mail', [
          { ...failed(again), failure: '{"retry_count":0}' } as Outcome,
        ])
        expect((await store.lanes.counts(['mail']))[0]).toMatchObject({
          dead: 1,
          expired: 0,
          running: 1,
        })
        expect(await seen(store, 'mail', id)).toMatchObject({ status: 'error', settled: true })
      },
    )

    test('a mark of an end on a door’s job is gone when it runs again: its end by a native worker counts', async ({
      world,
      store,
    }) => {
      const id = await submitOne(store, 'mail')
      await world.native.mark('mail', id, 'settled')
      const [job] = await store.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 1 })
      if (!job) throw new Error('nothing to take')
      await store.steps.finish('mail', [retried(job, 0)])
      await world.pass(1)
      await store.lanes.promote()
      await world.native.take('mail')
      await world.native.finish('mail', id, 'success', bytes('out'))
      expect(await store.native.unsettled('mail', [id])).toEqual([id])
    })
  })

  describe('locks of native clients', () => {
    test.for([
      ['complete', completed],
      ['fail', failed],
      ['dead', killed],
      ['lost for the last time', (job: Parameters<typeof requeued>[0]) => requeued(job, true, 1)],
    ] as const)('%s lets the client go', async ([_name, outcome], { world, store }) => {
      const job = await heldNative(world, store)
      await store.steps.finish('mail', [outcome(job)])
      expect(await world.native.locks('mail', job.id)).toBe(1)
    })

    test('a job that will run again keeps the client waiting until its last try', async ({
      world,
      store,
    }) => {
      const job = await heldNative(world, store)
      await store.steps.finish('mail', [retried(job, 1_000)])
      expect(await world.native.locks('mail', job.id)).toBe(0)
      await world.pass(1_001)
      await store.lanes.promote()
      await store.steps.finish('mail', [requeued(await takeOne(store, 'mail'))])
      expect(await world.native.locks('mail', job.id)).toBe(0)
      await store.steps.finish('mail', [killed(await takeOne(store, 'mail'))])
      expect(await world.native.locks('mail', job.id)).toBe(1)
      expect(await seen(store, 'mail', job.id)).toMatchObject({
        status: 'error',
        output: bytes('over'),
      })
    })

    test('a cancelled job, queued or reserved, releases the client', async ({ world, store }) => {
      const { id } = await heldNative(world, store)
      const queued = await pushNative(world, 'mail', 'high')
      for (const job of [id, queued]) {
        expect(await store.admin.cancel('mail', job)).toBe(true)
        expect(await world.native.locks('mail', job)).toBe(1)
      }
    })

    test('a retry that an operator ends or kills, and a dropped lane, release the client', async ({
      world,
      store,
    }) => {
      const ids: number[] = []
      for (let job = 0; job < 3; job += 1) {
        const held = await heldNative(world, store)
        await store.steps.finish('mail', [retried(held, minute)])
        ids.push(held.id)
      }
      await store.queues.moveJobs('mail', 'retries', ids.slice(0, 1), 'deleted')
      await store.queues.moveJobs('mail', 'retries', ids.slice(1, 2), 'dead')
      await store.admin.dropLane('mail', 99)
      for (const id of ids) {
        expect(await world.native.locks('mail', id), `of ${id}`).toBeGreaterThan(0)
      }
    })
  })
}
