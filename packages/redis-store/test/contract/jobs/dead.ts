import { describe, expect } from 'vitest'
import type { NewJob, Outcome } from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import {
  aJob,
  bytes,
  completed,
  type ContractTests,
  fetch,
  findUnique,
  idsOf,
  killed,
  listening,
  lookAtAll,
  native,
  pushNative,
  readOne,
  requeued,
  seen,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

const failure = '{"retry_count":0,"errtype":"Broken"}'
const unique = bytes('one of a kind')

function failedFor(job: {
  readonly lane: string
  readonly id: number
  readonly token: string
}): Outcome {
  const { lane, id, token } = job
  return { lane, id, token, kind: 'fail', message: bytes('broken'), failure }
}

async function deadOf(store: SteppedStore): Promise<readonly number[]> {
  return (await store.inspect.setIds('mail', 'dead', 0, 9)).ids
}

/** Jobs that failed for good. */
export function deadContract({ open, test }: ContractTests): void {
  describe('jobs that failed for good', () => {
    test.each<readonly [string, Partial<NewJob>]>([
      ['a Gearman client', { unique, retentionSeconds: 60 }],
      ['an HTTP client', { door: 'http', unique }],
      ['a Faktory producer', { door: 'faktory', unique, jid: 'jid-12345' }],
    ])(
      'in the background of %s are kept, block no unique key, and can run again',
      async (_who, over) => {
        const world = await open()
        const store = await world.node()
        const id = await submitOne(store, 'mail', over)
        expect(await store.steps.finish('mail', [failedFor(await takeOne(store, 'mail'))])).toEqual(
          ['died'],
        )
        expect(await deadOf(store)).toEqual([id])
        expect(await seen(store, 'mail', id)).toMatchObject({
          status: 'error',
          settled: true,
          output: bytes('broken'),
          failure,
        })
        expect(await world.secondsLeft('mail', id)).toBe(Infinity)
        expect((await store.lanes.counts(['mail']))[0]).toMatchObject({
          dead: 1,
          died: 1,
          running: 0,
        })
        expect(await findUnique(store, unique, ['mail'])).toEqual([])
        expect(await store.steps.submit('mail', [aJob({ unique })])).toEqual([
          { kind: 'created', id: id + 1 },
        ])
        await take(store, ['mail'])
        expect(await store.queues.moveJobs('mail', 'dead', [id], 'queue')).toEqual([id])
        const again = await takeOne(store, 'mail')
        expect(again).toMatchObject({ id, failure })
      },
    )

    test('in the foreground are not kept: their clients have got the failure', async ({
      store,
    }) => {
      for (const outcome of [failedFor, killed]) {
        const id = await submitOne(store, 'mail', { foreground: true })
        await store.steps.finish('mail', [outcome(await takeOne(store, 'mail'))])
        expect(await readOne(store, 'mail', id)).toBeUndefined()
      }
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ dead: 0, failed: 2 })
    })

    test('that a background client joined are kept', async ({ store }) => {
      const id = await submitOne(store, 'mail', { foreground: true, unique })
      await store.steps.submit('mail', [aJob({ unique })])
      await store.steps.finish('mail', [failedFor(await takeOne(store, 'mail'))])
      expect(await deadOf(store)).toEqual([id])
    })

    test('without a recorded failure are not kept', async ({ store }) => {
      const id = await submitOne(store, 'mail', { door: 'faktory' })
      const { lane, token } = await takeOne(store, 'mail')
      await store.steps.finish('mail', [
        { lane, id, token, kind: 'fail', message: bytes('broken') },
      ])
      expect(await readOne(store, 'mail', id)).toBeUndefined()
    })

    test('of a native client are kept, and their clients released', async ({ world, store }) => {
      const id = await pushNative(world, 'mail')
      await store.steps.finish('mail', [failedFor(await takeOne(store, 'mail'))])
      expect(await deadOf(store)).toEqual([id])
      expect(await world.native.locks('mail', id)).toBe(1)
    })

    test('at a native worker are kept once they are settled', async ({ world, store }) => {
      const id = await submitOne(store, 'mail')
      await world.native.take('mail')
      await world.native.finish('mail', id, 'error', bytes('broken'))
      expect(await store.steps.finish('mail', [failedFor(native('mail', id))])).toEqual(['died'])
      expect(await deadOf(store)).toEqual([id])
      expect(await world.secondsLeft('mail', id)).toBe(Infinity)
    })

    test.for([
      ['done', completed],
      ['dead again', failedFor],
    ] as const)(
      'that run again, and are %s, leave the unique key to another job that took it meanwhile',
      async ([_how, outcome], { store }) => {
        const id = await submitOne(store, 'mail', { unique })
        await store.steps.finish('mail', [failedFor(await takeOne(store, 'mail'))])
        const other = await submitOne(store, 'mail', { unique })
        await take(store, ['mail'])
        expect(await store.queues.moveJobs('mail', 'dead', [id], 'queue')).toEqual([id])
        await store.steps.finish('mail', [outcome(await takeOne(store, 'mail'))])
        expect(await findUnique(store, unique, ['mail'])).toEqual([{ lane: 'mail', id: other }])
        const joined = await store.steps.submit('mail', [aJob({ unique })])
        expect(joined).toEqual([{ kind: 'joined', id: other }])
      },
    )

    test('have no waiting clients any more', async ({ store }) => {
      const id = await submitOne(store, 'mail', { foreground: true, unique })
      await store.steps.submit('mail', [aJob({ unique })])
      expect((await seen(store, 'mail', id)).waiting).toBe(1)
      await store.steps.finish('mail', [failedFor(await takeOne(store, 'mail'))])
      expect(await seen(store, 'mail', id)).toMatchObject({ status: 'error', waiting: 0 })
    })

    test('leave when their time is up, and so do their jids', async () => {
      const world = await open({ deadSeconds: 60 })
      const store = await world.node()
      const jids = ['first-001', 'second-01']
      for (const jid of jids) {
        await submitOne(store, 'mail', { door: 'faktory', jid })
        await store.steps.finish('mail', [failedFor(await takeOne(store, 'mail'))])
        await world.pass(31_000)
        await store.lanes.heal(['mail'])
      }
      expect(await deadOf(store)).toEqual([2])
      expect(await readOne(store, 'mail', 1)).toBeUndefined()
      const found = await Promise.all(jids.map((jid) => store.jobs.findJid(jid)))
      expect(found).toEqual([undefined, { lane: 'mail', id: 2 }])
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ dead: 1, forgotten: 1 })
    })

    test('because they lost too many workers are kept, except for those with waiting clients', async ({
      store,
    }) => {
      const kept = await submitOne(store, 'mail')
      const asked = await submitOne(store, 'mail', { foreground: true })
      const lost = (await take(store, ['mail'], 2)).map((job) => ({
        ...requeued(job, true, 1),
        failure,
      }))
      expect(await store.steps.finish('mail', lost)).toEqual(['died', 'lost'])
      expect(await deadOf(store)).toEqual([kept])
      expect((await seen(store, 'mail', kept)).failure).toBe(failure)
      expect(await readOne(store, 'mail', asked)).toBeUndefined()
    })

    test('because their nodes died with them are kept', async ({ world }) => {
      const [dead, alive] = [await world.node(), await world.node()]
      const id = await submitOne(alive, 'mail')
      const asked = await submitOne(alive, 'mail', { foreground: true })
      await take(dead, ['mail'], 2)
      expect(await alive.nodes.declareDead(dead.node)).toBe(true)
      const loss = { maxLosses: 1, failure }
      const { woken, dropped } = await alive.nodes.reclaim(dead.node, ['mail'], loss)
      expect(woken).toEqual([])
      const ended = dropped.toSorted((one, other) => one.id - other.id)
      expect(ended).toEqual([
        { lane: 'mail', id, door: 'gearman', how: 'died' },
        { lane: 'mail', id: asked, door: 'gearman', how: 'lost' },
      ])
      expect(await deadOf(alive)).toEqual([id])
      expect(await seen(alive, 'mail', id)).toMatchObject({ failure, status: 'error' })
    })

    test('because they lost too many native workers are kept', async ({ world, store }) => {
      const id = await submitOne(store, 'mail')
      await world.native.take('mail')
      await lookAtAll(store)
      await world.pass(10_001)
      const request = { leaseMs: 10_000, mends: 'all' as const, max: 9, maxLosses: 1, failure }
      await store.native.repair(['mail'], request)
      expect(await deadOf(store)).toEqual([id])
      expect((await seen(store, 'mail', id)).failure).toBe(failure)
    })
  })

  describe('jobs failed by consumers that may not know their function', () => {
    const retry = (job: { readonly id: number; readonly token: string }): Outcome => {
      const { id, token } = job
      const message = bytes('no such jobtype')
      return { lane: 'mail', id, token, kind: 'retry', message, delayMs: 50_000, failure }
    }

    test('are due at once when a by-name worker of the function comes, others are not', async ({
      world,
      store,
    }) => {
      const other = await listening(world)
      const [known, unknown, cancelled] = [
        await submitOne(store, 'mail', { door: 'faktory' }),
        await submitOne(store, 'mail', { level: 8 }),
        await submitOne(store, 'mail'),
      ]
      const fetched = await fetch(store, 'default', ['mail', 'sms'], 9)
      await store.steps.finish('mail', fetched.map(retry))
      await store.admin.cancel('mail', cancelled)
      await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 1 }]]))
      expect(await take(store, ['mail'])).toEqual([])
      await store.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 1 }]]))
      await other.log.waitFor('woken', ({ lane }) => lane === 'mail')
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({
        high: 1,
        scheduled: 1,
        retrying: 1,
      })
      expect(idsOf(await take(store, ['mail'], 9))).toEqual([unknown])
      expect((await store.inspect.setIds('mail', 'retries', 0, 9)).ids).toEqual([known])
    })

    test('are due at once when a native worker is seen', async ({ world, store }) => {
      const id = await submitOne(store, 'mail')
      await store.steps.finish('mail', (await fetch(store, 'default', ['mail'])).map(retry))
      await store.lanes.heal(['mail'])
      expect(await take(store, ['mail'])).toEqual([])
      await world.native.count('mail', 1)
      await store.lanes.heal(['mail'])
      expect(await world.native.take('mail')).toBe(id)
      await world.native.finish('mail', id, 'success', bytes('done'))
    })

    test('wait for their time if the lane is always open to consumers', async ({ store }) => {
      await store.lanes.open('mail')
      const id = await submitOne(store, 'mail')
      await store.steps.finish('mail', (await fetch(store, 'default', ['mail'])).map(retry))
      await store.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 0 }]]))
      expect(await take(store, ['mail'])).toEqual([])
      expect((await store.inspect.setIds('mail', 'retries', 0, 9)).ids).toEqual([id])
    })
  })
}
