import { describe, expect } from 'vitest'
import type { Lease, Outcome, Report } from '@crossgear/core-scheduler'
import {
  aJob,
  bytes,
  completed,
  type ContractTests,
  failed,
  fetch,
  idsOf,
  inputsOf,
  jobsOf,
  killed,
  listening,
  pushNative,
  readOne,
  requeued,
  requeuedInFront,
  retried,
  seen,
  submitAll,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

/** Leases, their tokens, and the effects of outcomes. */
export function outcomeContract({ open, test }: ContractTests): void {
  describe('outcomes', () => {
    test('a claimed job is busy, with its holder and its waiting time', async ({ store }) => {
      await submitOne(store, 'mail')
      await submitOne(store, 'mail')
      const named = await takeOne(store, 'mail')
      const [consumer] = await fetch(store, 'default', ['mail'])
      expect(named.heldBy).toBe('named')
      expect(consumer?.heldBy).toBe('consumer')
      expect(named.waitedMs).toBeGreaterThanOrEqual(0)
      expect(await seen(store, 'mail', 1)).toMatchObject({ status: 'busy', token: named.token })
    })

    test.each(['echo', 'a', `${'x'.repeat(30)}-9`])(
      'a job keeps the name of its door, whatever doors there are: %s',
      async (door) => {
        const world = await open()
        const store = await world.node()
        const retentionSeconds = 300
        const id = await submitOne(store, 'mail', { door, foreground: true, retentionSeconds })
        const lease = await takeOne(store, 'mail')
        expect(lease).toMatchObject({ id, door })
        expect(await store.steps.finish('mail', [completed(lease, 'out')])).toEqual(['done'])
        expect(await seen(store, 'mail', id)).toMatchObject({ door, status: 'success' })
        expect(await world.secondsLeft('mail', id)).toBeGreaterThan(0)
        expect(await world.violations()).toEqual([])
      },
    )

    test.for([
      ['complete', completed],
      ['fail', failed],
    ] as const)(
      '%s removes the record of a job without retention',
      async ([_kind, outcome], { world, store }) => {
        await submitOne(store, 'mail')
        expect(await store.steps.finish('mail', [outcome(await takeOne(store, 'mail'))])).toEqual([
          'done',
        ])
        expect(await world.secondsLeft('mail', 1)).toBeUndefined()
      },
    )

    test('an empty exception differs from a failure', async ({ store }) => {
      const message = Buffer.alloc(0)
      for (const isException of [true, false]) {
        const id = await submitOne(store, 'mail', { retentionSeconds: 300 })
        const { token } = await takeOne(store, 'mail')
        await store.steps.finish('mail', [
          { lane: 'mail', id, token, kind: 'fail', message, isException },
        ])
        expect((await seen(store, 'mail', id)).isException ?? false).toBe(isException)
      }
    })

    test.for([
      ['complete', completed, 'success', 'done'],
      ['fail', failed, 'error', 'broken'],
    ] as const)(
      '%s keeps the record for the time it asks for',
      async ([_kind, outcome, status, out], { world, store }) => {
        await submitOne(store, 'mail', { retentionSeconds: 300 })
        await store.steps.finish('mail', [outcome(await takeOne(store, 'mail'))])
        const job = await seen(store, 'mail', 1)
        expect(job).toMatchObject({ status, settled: true, output: bytes(out) })
        expect(job.token).toBeUndefined()
        expect(await world.secondsLeft('mail', 1)).toBe(300)
      },
    )

    test('of unfinished jobs are kept on request, queued or held, and longer retention is unchanged', async ({
      world,
      store,
    }) => {
      await submitAll(store, 'mail', [aJob(), aJob(), aJob({ retentionSeconds: 300 }), aJob()])
      const before = await take(store, ['mail'], 1)
      await store.jobs.keepOutcomes('mail', [1, 2, 3, 99], 60)
      const held = [...before, ...(await take(store, ['mail'], 3))]
      await store.steps.finish(
        'mail',
        held.map((job): Outcome => {
          const { lane, id, token } = job
          return { lane, id, token, kind: 'complete', output: bytes(`out ${id}`), job }
        }),
      )
      const left = await Promise.all([1, 2, 3, 4, 99].map((id) => world.secondsLeft('mail', id)))
      expect(left).toEqual([60, 60, 300, undefined, undefined])
      expect(await seen(store, 'mail', 1)).toMatchObject({ output: bytes('out 1') })
      // Ended jobs, and those of native clients, stay as they are.
      const id = await pushNative(world, 'mail')
      await store.jobs.keepOutcomes('mail', [2, id], 90)
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await world.secondsLeft('mail', 2)).toBe(60)
      expect(await world.secondsLeft('mail', id)).toBe(90_000)
    })

    test('the job of a native client stays 25 hours and its lock is pushed once', async ({
      world,
      store,
    }) => {
      const id = await pushNative(world, 'mail')
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'), 'out')])
      expect(await seen(store, 'mail', id)).toMatchObject({
        door: 'native',
        status: 'success',
        output: bytes('out'),
      })
      expect(await world.secondsLeft('mail', id)).toBe(90_000)
      expect(await world.native.locks('mail', id)).toBe(1)
    })

    test('a gateway’s own job pushes no lock', async ({ world, store }) => {
      await submitOne(store, 'mail')
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      expect(await world.native.locks('mail', 1)).toBe(0)
    })

    test('an old token changes nothing, whatever the outcome', async ({ store }) => {
      await submitOne(store, 'mail')
      const old = await takeOne(store, 'mail')
      await store.steps.finish('mail', [requeued(old)])
      const held = await takeOne(store, 'mail')
      expect(held.token).not.toBe(old.token)
      const before = await seen(store, 'mail', 1)
      const outcomes = [completed, failed, killed, requeued].map((outcome) => outcome(old))
      const results = await store.steps.finish('mail', [...outcomes, retried(old, 5)])
      expect(results).toEqual(Array.from({ length: 5 }, () => 'unknown'))
      expect(await seen(store, 'mail', 1)).toEqual(before)
      expect(await store.steps.finish('mail', [completed(held), completed(held)])).toEqual([
        'done',
        'unknown',
      ])
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ completed: 1, running: 0 })
    })

    test('a retry waits for its time and is then queued at its level', async ({ world, store }) => {
      await store.steps.submit('mail', jobsOf(5, 9))
      await store.steps.finish('mail', [retried(await takeOne(store, 'mail'), 5_000)])
      expect(await store.lanes.promote()).toEqual([])
      const waiting = await seen(store, 'mail', 2)
      expect(waiting).toMatchObject({ status: 'idle', failure: '{"retry_count":0}' })
      expect(waiting.token).toBeUndefined()
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ scheduled: 1, retrying: 1 })
      await world.pass(5_001)
      // Due, and not yet moved: still a retry.
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ scheduled: 1, retrying: 1 })
      expect(await store.lanes.promote()).toEqual([{ lane: 'mail', jobs: 1 }])
      expect(await store.lanes.promote()).toEqual([])
      expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['9-1', '5-0'])
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({
        retried: 1,
        retrying: 0,
        scheduled: 0,
      })
    })

    test('delayed jobs are promoted when due and not before, the earliest first', async ({
      world,
      store,
    }) => {
      const { nowMs } = await store.nodes.beat()
      await submitAll(store, 'mail', [
        aJob({ dueAtMs: nowMs + 20_000, input: bytes('later') }),
        aJob({ dueAtMs: nowMs + 10_000, input: bytes('sooner') }),
        aJob({ dueAtMs: nowMs - 1, input: bytes('past') }),
      ])
      expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['past'])
      await world.pass(10_001)
      expect(await store.lanes.promote()).toEqual([{ lane: 'mail', jobs: 1 }])
      expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['sooner'])
      await world.pass(10_001)
      await store.lanes.promote()
      expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['later'])
    })

    test('due jobs of many lanes are promoted together, each to its own queue', async ({
      world,
      store,
    }) => {
      const { nowMs } = await store.nodes.beat()
      const lanes = Array.from({ length: 150 }, (_none, at) => `lane-${at}`)
      for (const lane of lanes) {
        const early = aJob({ dueAtMs: nowMs + 5_000, input: bytes(`${lane} early`), level: 2 })
        const urgent = aJob({ dueAtMs: nowMs + 9_000, input: bytes(`${lane} urgent`), level: 8 })
        await submitAll(store, lane, [urgent, early, aJob({ dueAtMs: nowMs + 900_000 })])
      }
      await world.pass(10_000)
      const promoted = await store.lanes.promote()
      expect(promoted.map(({ lane, jobs }) => `${lane} ${jobs}`).sort()).toEqual(
        lanes.map((lane) => `${lane} 2`).sort(),
      )
      expect(await store.lanes.promote()).toEqual([])
      expect(inputsOf(await take(store, ['lane-99'], 9))).toEqual([
        'lane-99 urgent',
        'lane-99 early',
      ])
    })

    test.each(['mail', 'ma*l'])(
      'many jobs due at once keep levels and order in %s',
      async (lane) => {
        const world = await open()
        const store = await world.node()
        const { nowMs } = await store.nodes.beat()
        const numbers = Array.from({ length: 40 }, (_none, at) => at)
        const due = numbers.map((at) =>
          aJob({ dueAtMs: nowMs + 5_000, input: bytes(String(at)), level: at % 2 === 0 ? 9 : 5 }),
        )
        await submitAll(store, lane, due)
        await world.pass(6_000)
        expect(await store.lanes.promote()).toEqual([{ lane, jobs: 40 }])
        const inOrder = [...numbers.filter((at) => at % 2 === 0), ...numbers.filter((at) => at % 2)]
        expect(inputsOf(await take(store, [lane], 40))).toEqual(inOrder.map(String))
      },
    )

    test('a job keeps the time at which it came, however often it is queued again', async ({
      store,
    }) => {
      await submitOne(store, 'mail')
      const { enqueuedAtMs: cameAtMs } = await seen(store, 'mail', 1)
      const ends = [requeued, (job: Lease) => retried(job, -1), killed]
      for (const end of ends) {
        await store.steps.finish('mail', [end(await takeOne(store, 'mail'))])
        await store.lanes.promote()
        await store.queues.moveJobs('mail', 'dead', [1], 'queue')
        expect(await seen(store, 'mail', 1)).toMatchObject({
          status: 'idle',
          arrivedAtMs: cameAtMs,
        })
      }
    })

    test('a job that a native client scheduled is promoted once the lanes are healed', async ({
      world,
      store,
    }) => {
      const id = await world.native.write('mail', bytes('native'))
      await world.native.schedule('mail', id, 3_000)
      await store.lanes.heal(['mail'])
      expect(await store.lanes.promote()).toEqual([])
      await world.pass(3_001)
      expect(await store.lanes.promote()).toEqual([{ lane: 'mail', jobs: 1 }])
      expect(idsOf(await take(store, ['mail']))).toEqual([id])
    })

    test('a dead job is kept with its failure; the dead are bounded and the oldest go', async () => {
      const world = await open({ deadPerLane: 2 })
      const store = await world.node()
      await store.steps.submit(
        'mail',
        jobsOf(5, 5, 5).map((job, at) => ({ ...job, jid: `j-${at}` })),
      )
      for (const job of await take(store, ['mail'], 3)) {
        expect(await store.steps.finish('mail', [killed(job)])).toEqual(['died'])
        await world.pass(2)
      }
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({
        dead: 2,
        died: 3,
        failed: 1,
        forgotten: 1,
        running: 0,
      })
      expect(await readOne(store, 'mail', 1)).toBeUndefined()
      expect(await store.jobs.findJid('j-0')).toBeUndefined()
      expect(await seen(store, 'mail', 3)).toMatchObject({
        status: 'error',
        failure: '{"retry_count":25}',
        settled: true,
      })
      expect(await store.jobs.findJid('j-2')).toEqual({ lane: 'mail', id: 3 })
    })

    test('a job that lost too many workers is given up', async ({ store }) => {
      await submitOne(store, 'mail', { retentionSeconds: 60 })
      expect(
        await store.steps.finish('mail', [requeued(await takeOne(store, 'mail'), true, 2)]),
      ).toEqual(['requeued'])
      expect((await seen(store, 'mail', 1)).losses).toBe(1)
      const unhurt = requeued(await takeOne(store, 'mail'), false, 2)
      expect(await store.steps.finish('mail', [unhurt])).toEqual(['requeued'])
      expect(
        await store.steps.finish('mail', [requeued(await takeOne(store, 'mail'), true, 2)]),
      ).toEqual(['died'])
      expect(await seen(store, 'mail', 1)).toMatchObject({ status: 'error', settled: true })
      expect(await take(store, ['mail'])).toEqual([])
    })

    test('reports are accepted only from the holder; progress is stored', async ({ store }) => {
      await submitOne(store, 'mail')
      const { lane, id, token } = await takeOne(store, 'mail')
      const status = { kind: 'status', dividend: bytes('1'), divisor: bytes('3') } as const
      const reports: Report[] = [
        { lane, id, token, ...status },
        { lane, id, token: `${token}0`, ...status, dividend: bytes('2') },
        { lane, id: 9, token, kind: 'data', data: bytes('lost') },
      ]
      expect(await store.steps.report(reports)).toEqual([true, false, false])
      expect(await seen(store, 'mail', 1)).toMatchObject({
        dividend: bytes('1'),
        divisor: bytes('3'),
      })
    })

    test.for([
      ['goes back', requeued],
      ['goes to the front', requeuedInFront],
      ['waits for its next try', (job: Parameters<typeof retried>[0]) => retried(job, 10)],
    ] as const)(
      'progress of a run is cleared when the job %s',
      async ([_how, outcome], { store }) => {
        await submitOne(store, 'mail')
        const job = await takeOne(store, 'mail')
        const { lane, id, token } = job
        const status = { kind: 'status', dividend: bytes('1'), divisor: bytes('3') } as const
        await store.steps.report([{ lane, id, token, ...status }])
        await store.steps.finish('mail', [outcome(job)])
        expect((await seen(store, 'mail', 1)).dividend).toBeUndefined()
      },
    )

    test('reports reach the other nodes whose clients wait, in order and byte for byte', async ({
      world,
    }) => {
      const asks = await listening(world)
      const works = await listening(world)
      await submitOne(asks.store, 'mail', { foreground: true })
      const { lane, id, token } = await takeOne(works.store, 'mail')
      const odd = Buffer.from(Array.from({ length: 256 }, (_none, at) => at))
      await works.store.steps.report([
        { lane, id, token, kind: 'data', data: odd },
        { lane, id, token, kind: 'warning', data: Buffer.alloc(0) },
        { lane, id, token, kind: 'status', dividend: bytes('1'), divisor: bytes('2') },
      ])
      await asks.log.waitFor(
        'relayed',
        ({ event }) => event !== 'finish' && event.kind === 'status',
      )
      const ref = { lane, id }
      const relayed = ({ log }: typeof asks) => log.events.filter(({ kind }) => kind === 'relayed')
      expect(relayed(asks)).toEqual([
        { kind: 'relayed', ref, event: { kind: 'data', data: odd } },
        { kind: 'relayed', ref, event: { kind: 'warning', data: Buffer.alloc(0) } },
        {
          kind: 'relayed',
          ref,
          event: { kind: 'status', dividend: bytes('1'), divisor: bytes('2') },
        },
      ])
      expect(relayed(works)).toEqual([])
    })
  })
}
