import { describe, expect } from 'vitest'
import type { DroppedJob, Lease, Outcome } from '@crossgear/core-scheduler'
import type { EventLog } from '../../event-log.ts'
import {
  aJob,
  bytes,
  completed,
  type ContractTests,
  findUnique,
  idsOf,
  listening,
  native,
  pushNative,
  readOne,
  requeued,
  seen,
  submitAll,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

const unique = bytes('one of a kind')

/** Coalescing, waiting clients, and clients that leave. */
export function sharingContract({ test }: ContractTests): void {
  describe('jobs that clients share', () => {
    test('a job with the unique id of a queued one joins it, from any node', async ({ world }) => {
      const [a, b] = [await world.node(), await world.node()]
      expect(await a.steps.submit('mail', [aJob({ unique }), aJob({ unique })])).toEqual([
        { kind: 'created', id: 1 },
        { kind: 'joined', id: 1 },
      ])
      expect(await b.steps.submit('mail', [aJob({ unique })])).toEqual([{ kind: 'joined', id: 1 }])
      expect(await b.steps.submit('sms', [aJob({ unique })])).toEqual([{ kind: 'created', id: 1 }])
      expect(idsOf(await take(a, ['mail'], 9))).toEqual([1])
    })

    test('a job with the unique id of a running, a waiting or a delayed one joins it', async ({
      store,
    }) => {
      await submitOne(store, 'mail', { unique })
      const job = await takeOne(store, 'mail')
      expect(await store.steps.submit('mail', [aJob({ unique })])).toEqual([
        { kind: 'joined', id: 1 },
      ])
      await store.steps.finish('mail', [requeued(job)])
      expect(await store.steps.submit('mail', [aJob({ unique })])).toEqual([
        { kind: 'joined', id: 1 },
      ])
      await store.steps.submit('sms', [aJob({ unique, dueAtMs: 9e15 })])
      expect(await store.steps.submit('sms', [aJob({ unique })])).toEqual([
        { kind: 'joined', id: 1 },
      ])
    })

    test('a finished job is not joined, even while its record is kept', async ({ store }) => {
      await submitOne(store, 'mail', { unique, retentionSeconds: 60 })
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      const [again] = await store.steps.submit('mail', [aJob({ unique })])
      expect(again?.kind).toBe('created')
      expect((await seen(store, 'mail', 1)).status).toBe('success')
    })

    test('a unique id and a jid lead to their job until it is finished', async ({ store }) => {
      const lanes = ['fax', 'mail', 'sms']
      await submitOne(store, 'mail', { unique, jid: 'j-1' })
      await submitOne(store, 'sms', { unique })
      expect(await findUnique(store, unique, lanes)).toEqual([
        { lane: 'mail', id: 1 },
        { lane: 'sms', id: 1 },
      ])
      expect(await store.jobs.findJid('j-1')).toEqual({ lane: 'mail', id: 1 })
      expect(await store.jobs.findJid('j-2')).toBeUndefined()
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await findUnique(store, unique, lanes)).toEqual([{ lane: 'sms', id: 1 }])
      expect(await store.jobs.findJid('j-1')).toBeUndefined()
    })

    test('a reused jid names the later job, until that one ends', async ({ store }) => {
      await submitOne(store, 'mail', { jid: 'j-1' })
      await submitOne(store, 'mail', { jid: 'j-1' })
      for (const job of await take(store, ['mail'], 2)) {
        expect(await store.jobs.findJid('j-1')).toEqual({ lane: 'mail', id: 2 })
        await store.steps.finish('mail', [completed(job)])
      }
      expect(await store.jobs.findJid('j-1')).toBeUndefined()
    })

    test('a foreground job whose only client left is not handed out', async ({ store }) => {
      await submitOne(store, 'mail', { foreground: true, unique, jid: 'j-1', door: 'http' })
      expect((await seen(store, 'mail', 1)).waiting).toBe(1)
      expect(await store.lanes.nonEmpty(['mail'])).toEqual(['mail'])
      await store.jobs.abandon('mail', [1])
      expect(await store.lanes.nonEmpty(['mail'])).toEqual([])
      await submitOne(store, 'mail')
      expect(await store.lanes.nonEmpty(['mail'])).toEqual(['mail'])
      const all: DroppedJob[] = []
      const dropped = (job: DroppedJob): void => void all.push(job)
      const claim = { by: 'named', groups: [{ lanes: ['mail'] }], max: 9, dropped } as const
      expect(idsOf(await store.steps.claim(claim))).toEqual([2])
      expect(all).toEqual([{ lane: 'mail', id: 1, door: 'http', how: 'expired' }])
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ expired: 1, running: 1 })
      expect(await readOne(store, 'mail', 1)).toBeUndefined()
      expect(await findUnique(store, unique, ['mail'])).toEqual([])
      expect(await store.jobs.findJid('j-1')).toBeUndefined()
    })

    test('it is handed out while another client waits, on this node or another', async ({
      world,
    }) => {
      const [a, b] = [await world.node(), await world.node()]
      await submitOne(a, 'mail', { foreground: true, unique })
      await a.steps.submit('mail', [aJob({ foreground: true, unique })])
      await b.steps.submit('mail', [aJob({ foreground: true, unique })])
      expect((await seen(a, 'mail', 1)).waiting).toBe(3)
      await a.jobs.abandon('mail', [1, 1])
      expect((await seen(a, 'mail', 1)).waiting).toBe(1)
      await a.jobs.abandon('mail', [1])
      expect((await seen(a, 'mail', 1)).waiting).toBe(1)
      expect(idsOf(await take(a, ['mail']))).toEqual([1])
    })

    test.for([
      ['background', {}],
      ['foreground', { foreground: true }],
    ] as const)(
      'a %s client that joins makes an abandoned job live again',
      async ([_kind, over], { store }) => {
        await submitOne(store, 'mail', { foreground: true, unique })
        await store.jobs.abandon('mail', [1])
        const joined = await store.steps.submit('mail', [aJob({ unique, ...over })])
        expect(joined).toEqual([{ kind: 'joined', id: 1 }])
        expect(idsOf(await take(store, ['mail']))).toEqual([1])
      },
    )

    test('a client that leaves a background job changes nothing', async ({ store }) => {
      await submitOne(store, 'mail')
      await store.jobs.abandon('mail', [1, 7])
      expect(idsOf(await take(store, ['mail']))).toEqual([1])
    })

    test('a running job without waiting clients is dropped when its worker releases it', async ({
      store,
    }) => {
      await submitOne(store, 'mail', { foreground: true })
      const job = await takeOne(store, 'mail')
      await store.jobs.abandon('mail', [1])
      expect(await store.steps.finish('mail', [requeued(job)])).toEqual(['expired'])
      expect(await readOne(store, 'mail', 1)).toBeUndefined()
    })

    test('the nodes of waiting clients are sent the outputs, and can read them', async ({
      world,
    }) => {
      const asks = await listening(world)
      const other = await listening(world)
      const works = await listening(world)
      const longest = Buffer.alloc(16_384, Buffer.from([0, 255, 13, 10]))
      const outputs = [bytes(''), bytes('result'), longest, Buffer.alloc(16_385)]
      await submitAll(
        asks.store,
        'mail',
        outputs.map(() => aJob({ foreground: true })),
      )
      await submitOne(other.store, 'mail', { foreground: true })
      const jobs = await take(works.store, ['mail'], 5)
      const end = ({ lane, id, token }: Lease, output = bytes('last')): Outcome => {
        return { lane, id, token, kind: 'complete', output }
      }
      const ends = jobs.map((job, at) => end(job, outputs[at]))
      await works.store.steps.finish('mail', ends)
      const left = await Promise.all(jobs.map(({ id }) => world.secondsLeft('mail', id)))
      expect(left).toEqual(jobs.map(() => 60))
      const heard = async ({ log }: { readonly log: EventLog }, id: number): Promise<unknown> => {
        return (await log.waitFor('relayed', ({ ref }) => ref.lane === 'mail' && ref.id === id))
          .event
      }
      for (const [at, output] of outputs.slice(0, 3).entries()) {
        expect(await heard(asks, at + 1)).toEqual({ kind: 'complete', output })
      }
      expect(await heard(asks, 4)).toBe('finish')
      expect(await heard(other, 5)).toEqual({ kind: 'complete', output: bytes('last') })
      for (const [at, output] of outputs.entries()) {
        const read = await seen(asks.store, 'mail', at + 1)
        expect(read).toMatchObject({ status: 'success', settled: true, output })
      }
      expect(asks.log.events.filter(({ kind }) => kind === 'relayed')).toHaveLength(4)
    })

    test('the node that worked is not notified of its own outcome', async ({ world }) => {
      const { store, log } = await listening(world)
      await submitOne(store, 'mail', { foreground: true })
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await readOne(store, 'mail', 1)).toBeUndefined()
      await store.lanes.register('sentinel')
      await log.waitFor('laneAdded')
      expect(log.events.map(({ kind }) => kind)).not.toContain('relayed')
    })

    test('the result of a native worker is settled once, by the first node that asks', async ({
      world,
    }) => {
      const [a, b] = [await world.node(), await world.node()]
      await submitOne(a, 'mail', { foreground: true, unique, retentionSeconds: 60 })
      const id = (await world.native.take('mail')) ?? 0
      expect(await a.steps.finish('mail', [completed(native('mail', id))])).toEqual(['unknown'])
      await world.native.finish('mail', id, 'success', bytes('native result'))
      expect(await seen(a, 'mail', id)).toMatchObject({ status: 'success', settled: false })
      const outcome = completed(native('mail', id), 'native result')
      expect(await b.steps.finish('mail', [outcome])).toEqual(['done'])
      expect(await a.steps.finish('mail', [outcome])).toEqual(['unknown'])
      expect(await seen(a, 'mail', id)).toMatchObject({ status: 'success', settled: true })
      expect(await findUnique(b, unique, ['mail'])).toEqual([])
      expect((await a.lanes.counts(['mail']))[0]?.completed).toBe(1)
    })

    test('the token "native" ends no lease, and no job of a native client', async ({
      world,
      store,
    }) => {
      await submitOne(store, 'mail')
      await take(store, ['mail'])
      await pushNative(world, 'mail', 'normal', bytes('theirs'))
      const theirs = (await world.native.take('mail')) ?? 0
      await world.native.finish('mail', theirs, 'success', bytes('theirs'))
      const outcomes = [completed(native('mail', 1)), completed(native('mail', theirs))]
      expect(await store.steps.finish('mail', outcomes)).toEqual(['unknown', 'unknown'])
      expect((await seen(store, 'mail', 1)).status).toBe('busy')
    })
  })
}
