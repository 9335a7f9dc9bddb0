import { describe, expect } from 'vitest'
import {
  noStep,
  soleAnswer,
  type NewJob,
  type Outcome,
  type StepAnswer,
} from '@crossgear/core-scheduler'
import {
  aJob,
  allCompleted,
  bytes,
  completed,
  idsOf,
  inputsOf,
  jobsOf,
  submitOne,
  take,
  takeOne,
} from './kit.ts'
import type { ContractTests } from './kit.ts'
import type { SteppedStore } from './store-world.ts'

const long = Buffer.alloc(2_000, 'x')

/** Steps: all that goes to the store in one call. */
export function stepContract({ open, test }: ContractTests): void {
  describe('a step', () => {
    const arrivals = (lane: string, ...jobs: NewJob[]) => ({
      lane,
      jobs,
      places: [...jobs.keys()],
    })
    const claimOf = (lane: string, max = 9) => ({
      by: 'named' as const,
      groups: [{ lanes: [lane] }],
      max,
    })
    const eachClaim = ({ claims }: StepAnswer) => claims.map((jobs) => soleAnswer([jobs]))
    const claimedBy = ({ claims }: StepAnswer) => soleAnswer(claims)

    test('hands out the jobs that it brings', async ({ store }) => {
      await store.lanes.register('mail')
      const answer = await store.steps.step({
        ...noStep,
        submissions: [arrivals('mail', aJob({ input: bytes('one') }), aJob({ input: long }))],
        claims: [claimOf('mail')],
      })
      expect(inputsOf(claimedBy(answer))).toEqual(['one', long.toString()])
    })

    test.each([[{}], [{ foreground: true }], [{ level: 8 as const }], [{ jid: 'a-jid-of-1' }]])(
      'hands out jobs of the node like those of others: %j',
      async (over) => {
        const world = await open()
        const [own, other] = [await world.node(), await world.node()]
        const job = { ...over, input: bytes('in'), unique: bytes('u'), reducer: bytes('r') }
        await submitOne(own, 'mail', { ...job, retries: 3, envelope: '{"custom":{}}' })
        const [first] = await take(own, ['mail'])
        if (!first) throw new Error('nothing taken')
        await own.steps.finish('mail', [{ ...pick(first), kind: 'requeueFront' }])
        const [second] = await take(other, ['mail'])
        const bare = { token: '', waitedMs: 0 }
        expect({ ...first, ...bare }).toEqual({ ...second, ...bare })
      },
    )

    test('hands out the jobs that it brings like others', async ({ world }) => {
      const [own, other] = [await world.node(), await world.node()]
      await own.lanes.register('mail')
      const jobs = [
        aJob({ input: bytes('plain') }),
        aJob({ foreground: true, jid: 'a-jid' }),
        aJob({ level: 8 }),
        aJob({ unique: bytes('u') }),
      ]
      for (const job of jobs) {
        const submissions = [arrivals('mail', job)]
        const [first] = claimedBy(
          await own.steps.step({ ...noStep, submissions, claims: [claimOf('mail')] }),
        )
        if (!first) throw new Error('nothing taken')
        await own.steps.finish('mail', [{ ...pick(first), kind: 'requeueFront' }])
        const second = await takeOne(other, 'mail')
        const bare = { token: '', waitedMs: 0 }
        expect({ ...first, ...bare }).toEqual({ ...second, ...bare })
        await other.steps.finish('mail', [completed(second)])
      }
    })

    test('hands out jobs of two nodes in one lane, each as it was submitted', async ({ world }) => {
      const [own, other] = [await world.node(), await world.node()]
      const names = Array.from({ length: 40 }, (_none, at) => `job ${at}`)
      for (const [at, name] of names.entries()) {
        const foreground = at % 3 === 0
        await submitOne(at % 2 === 0 ? own : other, 'mail', { input: bytes(name), foreground })
      }
      const taken = [...(await take(own, ['mail'], 20)), ...(await take(other, ['mail'], 20))]
      expect(inputsOf(taken)).toEqual(names)
    })

    test('drops the ids of a job that ends right after it was handed out', async ({ store }) => {
      const unique = bytes('one of a kind')
      await submitOne(store, 'mail', { unique, jid: 'a-jid' })
      const job = await takeOne(store, 'mail')
      await store.steps.finish('mail', [
        { ...pick(job), kind: 'complete', output: bytes('out'), job },
      ])
      expect(await store.jobs.findJid('a-jid')).toBeUndefined()
      expect(await submitOne(store, 'mail', { unique, jid: 'a-jid' })).toBe(job.id + 1)
    })

    test('releases the lock of a job that ends right after it was handed out', async ({
      store,
    }) => {
      const lock = { key: 'only', forMs: 60_000, until: 'success' } as const
      await submitOne(store, 'mail', { door: 'faktory', lock })
      const job = await takeOne(store, 'mail')
      await store.steps.finish('mail', [{ ...pick(job), kind: 'complete', output: bytes(''), job }])
      const answer = await store.steps.step({
        ...noStep,
        submissions: [arrivals('mail', aJob({ door: 'faktory', lock }))],
      })
      expect(answer.submissions).toMatchObject([{ results: [{ kind: 'created' }] }])
    })

    test('ends a job with retention as its outcome says, right after it was handed out', async ({
      world,
      store,
    }) => {
      const id = await submitOne(store, 'mail', { retentionSeconds: 60 })
      const job = await takeOne(store, 'mail')
      await store.steps.finish('mail', [
        { ...pick(job), kind: 'complete', output: bytes('out'), job },
      ])
      const [kept] = await store.jobs.look('mail', [id], ['output'])
      expect([kept?.status, kept?.output?.toString()]).toEqual(['success', 'out'])
      expect(await world.secondsLeft('mail', id)).toBe(60)
    })

    test('hands out a job that was given back, and one that was retried, in its current state', async ({
      world,
      store,
    }) => {
      await submitOne(store, 'mail', { input: bytes('in'), door: 'faktory', retries: 3 })
      const first = await takeOne(store, 'mail')
      await store.steps.finish('mail', [{ ...pick(first), kind: 'requeueFront' }])
      const second = await takeOne(store, 'mail')
      expect([second.input.toString(), second.failure]).toEqual(['in', undefined])
      const failure = '{"retry_count":0}'
      const message = bytes('again')
      await store.steps.finish('mail', [
        { ...pick(second), kind: 'retry', message, delayMs: 0, failure },
      ])
      await world.pass(1_000)
      await store.lanes.promote()
      const third = await takeOne(store, 'mail')
      expect([third.input.toString(), third.failure]).toEqual(['in', failure])
    })

    test('ends jobs before it takes new ones: none joins a job that ends with it', async ({
      store,
    }) => {
      const unique = bytes('one of a kind')
      await submitOne(store, 'mail', { unique })
      const held = await takeOne(store, 'mail')
      const answer = await store.steps.step({
        ...noStep,
        outcomes: [{ lane: 'mail', outcomes: [completed(held)] }],
        submissions: [arrivals('mail', aJob({ unique }))],
        claims: [claimOf('mail')],
      })
      expect(answer.outcomes).toEqual([['done']])
      expect(answer.submissions).toMatchObject([{ results: [{ kind: 'created', id: 2 }] }])
      expect(idsOf(claimedBy(answer))).toEqual([2])
    })

    test('stores the reports of a job before its end', async ({ store }) => {
      await submitOne(store, 'mail')
      const held = await takeOne(store, 'mail')
      const report = { ...pick(held), kind: 'data' as const, data: bytes('half') }
      const outcomes = [{ lane: 'mail', outcomes: [completed(held)] }]
      const answer = await store.steps.step({ ...noStep, reports: [report], outcomes })
      expect([answer.reports, answer.outcomes]).toEqual([[true], [['done']]])
      expect((await store.steps.step({ ...noStep, reports: [report] })).reports).toEqual([false])
    })

    test('serves one claim after the other', async ({ store }) => {
      await store.lanes.register('mail')
      const claims = [claimOf('mail', 1), claimOf('other'), claimOf('mail', 1)]
      const submissions = [arrivals('mail', aJob(), aJob())]
      const answer = await store.steps.step({ ...noStep, submissions, claims })
      expect(eachClaim(answer).map(idsOf)).toEqual([[1], [], [2]])
    })

    test('hands out older jobs before those that it brings', async ({ store }) => {
      await submitOne(store, 'mail')
      const submissions = [arrivals('mail', aJob(), aJob())]
      const claims = [claimOf('mail', 2)]
      const answer = await store.steps.step({ ...noStep, submissions, claims })
      expect(idsOf(claimedBy(answer))).toEqual([1, 2])
      expect(idsOf(await take(store, ['mail'], 9))).toEqual([3])
    })

    test.for([
      ['one', 1],
      ['all', 9],
    ] as const)(
      'hands out the jobs that it brings by their levels, to a claim of %s',
      async ([_of, max], { store }) => {
        await store.lanes.register('mail')
        const submissions = [arrivals('mail', ...jobsOf(5, 8, 2, 8, 5))]
        const claims = [claimOf('mail', max)]
        const answer = await store.steps.step({ ...noStep, submissions, claims })
        const taken = [...claimedBy(answer), ...(await take(store, ['mail'], 9))]
        expect(inputsOf(taken)).toEqual(['8-1', '8-3', '5-0', '5-4', '2-2'])
      },
    )

    test('hands out all jobs that it brings for a lane, however they came', async ({ store }) => {
      await store.lanes.register('mail')
      const submissions = [
        arrivals('mail', aJob()),
        arrivals('mail', aJob({ door: 'faktory', reserveForSeconds: 60 }), aJob({ level: 8 })),
        arrivals('mail', aJob()),
      ]
      const claims = [claimOf('mail', 1), claimOf('mail', 3), claimOf('mail', 3)]
      const answer = await store.steps.step({ ...noStep, submissions, claims })
      const taken = eachClaim(answer).flat()
      expect(new Set(idsOf(taken))).toEqual(new Set([1, 2, 3, 4]))
      expect(await take(store, ['mail'], 9)).toEqual([])
      const outcomes = allCompleted(taken)
      expect(await store.steps.finish('mail', outcomes)).toEqual(['done', 'done', 'done', 'done'])
    })

    test('leaves what its claims have no room for', async ({ store }) => {
      await store.lanes.register('mail')
      const submissions = [arrivals('mail', aJob(), aJob(), aJob(), aJob())]
      const claims = [claimOf('mail', 1), claimOf('mail', 2)]
      const answer = await store.steps.step({ ...noStep, submissions, claims })
      expect(eachClaim(answer).map(idsOf)).toEqual([[1], [2, 3]])
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ running: 3, normal: 1 })
    })

    test('brings a closed lane nothing that its consumers get', async ({ store }) => {
      await store.lanes.register('mail')
      await store.lanes.close('mail')
      const fetching = { by: 'consumer' as const, groups: [{ lanes: ['mail'] }], max: 9 }
      const submissions = [arrivals('mail', aJob())]
      const claims = [fetching, claimOf('mail')]
      const answer = await store.steps.step({ ...noStep, submissions, claims })
      expect(eachClaim(answer).map(idsOf)).toEqual([[], [1]])
    })

    test('reports whether consumers may take the jobs that it brings', async ({ store }) => {
      await store.lanes.close('closed')
      const submissions = ['mail', 'closed'].map((lane) => arrivals(lane, aJob()))
      const answer = await store.steps.step({ ...noStep, submissions })
      expect(answer.submissions).toMatchObject([{ isOpen: true }, { isOpen: false }])
    })

    describe('with a withheld output', () => {
      async function ends(
        store: SteppedStore,
        over: Partial<NewJob>,
        wait: (id: number) => Promise<unknown> = () => Promise.resolve(),
      ) {
        const id = await submitOne(store, 'mail', over)
        const held = await takeOne(store, 'mail')
        await wait(id)
        const withheld: Outcome = { ...pick(held), kind: 'complete', output: long, withheld: true }
        const [before] = await store.steps.finish('mail', [withheld])
        const shown: Outcome = { ...pick(held), kind: 'complete', output: long }
        const [after] = await store.steps.finish('mail', [shown])
        const [job] = await store.jobs.look('mail', [id], ['output'])
        return { before, after, output: job?.output?.length }
      }

      const isOver = { before: 'done', after: 'unknown', output: undefined }

      test.for([
        ['a client of this node alone waits', { foreground: true }],
        ['nobody waits', {}],
      ] as const)('ends a job for which %s', async ([_who, over], { store }) => {
        expect(await ends(store, over)).toEqual(isOver)
      })

      test('ends a job for which two clients of this node wait', async ({ store }) => {
        const over = { unique: bytes('u'), foreground: true }
        expect(await ends(store, over, () => submitOne(store, 'mail', over))).toEqual(isOver)
      })

      test.for([
        ['is kept', { foreground: true, retentionSeconds: 60 }],
        ['nobody waits for', { retentionSeconds: 60 }],
      ] as const)('asks for the output of a job that %s', async ([_what, over], { store }) => {
        const wanted = { before: 'wanted', after: 'done', output: long.length }
        expect(await ends(store, over)).toEqual(wanted)
      })

      test('asks for the output of a job for which a client of another node waits', async ({
        world,
      }) => {
        const [store, other] = [await world.node(), await world.node()]
        const unique = bytes('u')
        const join = () => submitOne(other, 'mail', { unique, foreground: true })
        expect(await ends(store, { unique, foreground: true }, join)).toEqual({
          before: 'wanted',
          after: 'done',
          output: long.length,
        })
      })
    })
  })
}

function pick({ lane, id, token }: { lane: string; id: number; token: string }) {
  return { lane, id, token }
}
