import { describe, expect } from 'vitest'
import {
  deathCallText,
  type Lease,
  type NewJob,
  type Outcome,
  shownJid,
} from '@crossgear/core-scheduler'
import type { SteppedStore } from '../store-world.ts'
import {
  bytes,
  completed,
  type ContractTests,
  killed,
  listening,
  requeued,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

const failure = '{"retry_count":0,"errtype":"Broken"}'
const onDeath = deathCallText(
  {
    lane: 'report@bulk',
    queue: 'bulk',
    level: 7,
    args: '[1, "two" ]',
    envelope: '{"x":1}',
    retries: 3,
  },
  { fn: 'mail', queue: 'default' },
)

const submitMortal = (store: SteppedStore, over: Partial<NewJob> = {}): Promise<number> =>
  submitOne(store, 'mail', { door: 'faktory', jid: 'jid-of-mail', onDeath, ...over })
const told = (store: SteppedStore): Promise<readonly Lease[]> => take(store, ['report@bulk'], 9)
const failedFor = ({ lane, id, token }: Lease): Outcome => {
  return { lane, id, token, kind: 'fail', message: bytes('broken'), failure }
}
/** The last arguments of the jobs that tell of deaths. */
const deathsIn = (jobs: readonly Lease[]): unknown[] =>
  jobs.map((job) => (JSON.parse(job.input.toString()) as unknown[]).at(-1))

/** Jobs that dead ones push. */
export function onDeathContract({ test }: ContractTests): void {
  describe('a job that dies pushes what it was submitted with', () => {
    test('in the step of its death, with what died as the last argument', async ({ store }) => {
      await submitMortal(store)
      const lease = await takeOne(store, 'mail')
      expect(await told(store)).toEqual([])
      expect(await store.steps.finish('mail', [killed(lease)])).toEqual(['died'])
      const [job, ...more] = await told(store)
      expect(more).toEqual([])
      expect(JSON.parse(String(job?.input))).toEqual([
        1,
        'two',
        { function: 'mail', queue: 'default', jid: 'jid-of-mail', failure: { retry_count: 25 } },
      ])
      expect(job).toMatchObject({ door: 'faktory', level: 7, envelope: '{"x":1}', retries: 3 })
      expect([...(await store.lanes.all()).keys()].sort()).toEqual(['mail', 'report@bulk'])
      expect((await store.lanes.counts(['report@bulk']))[0]).toMatchObject({ submitted: 1 })
    })

    test('by its shown jid where it has no other, and with its failure', async ({ store }) => {
      const id = await submitOne(store, 'mail', { onDeath })
      const number = (await store.lanes.all()).get('mail') ?? 0
      await store.steps.finish('mail', [failedFor(await takeOne(store, 'mail'))])
      expect(deathsIn(await told(store))).toMatchObject([
        { jid: shownJid(number, id), failure: JSON.parse(failure) as unknown },
      ])
    })

    test('once for each death, under a jid of its own', async ({ world, store }) => {
      const id = await submitMortal(store)
      const first = await takeOne(store, 'mail')
      await store.steps.finish('mail', [killed(first), killed(first)])
      await store.queues.moveJobs('mail', 'dead', [id], 'queue')
      await world.pass(5)
      await store.steps.finish('mail', [killed(await takeOne(store, 'mail'))])
      const jobs = await told(store)
      expect(deathsIn(jobs)).toHaveLength(2)
      const jids = jobs.map(({ jid = '' }) => jid)
      expect(new Set(jids).size).toBe(2)
      for (const { jid = '', ...job } of jobs)
        expect(await store.jobs.findJid(jid)).toMatchObject({ lane: 'report@bulk', id: job.id })
    })

    test('where it lost too many workers, or an operator moved it to the dead', async ({
      store,
    }) => {
      await submitMortal(store)
      await store.steps.finish('mail', [requeued(await takeOne(store, 'mail'), true, 1)])
      const later = await submitMortal(store, { dueAtMs: 9e12, jid: 'jid-of-later' })
      await store.queues.moveJobs('mail', 'scheduled', [later], 'dead')
      expect(deathsIn(await told(store))).toMatchObject([
        { jid: 'jid-of-mail', failure: {} },
        { jid: 'jid-of-later', failure: null },
      ])
    })

    test('not where it is done, or deleted', async ({ store }) => {
      await submitMortal(store)
      await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
      const later = await submitMortal(store, { dueAtMs: 9e12, jid: 'jid-of-later' })
      await store.queues.moveJobs('mail', 'scheduled', [later], 'deleted')
      expect(await told(store)).toEqual([])
    })

    test('and wakes a worker that waits for it', async ({ world, store }) => {
      const { store: other, log } = await listening(world, 'all')
      await submitMortal(store)
      await store.steps.finish('mail', [killed(await takeOne(store, 'mail'))])
      await log.waitFor('woken', ({ lane }) => lane === 'report@bulk')
      expect(await told(other)).toHaveLength(1)
    })
  })
}
