import { describe, expect } from 'vitest'
import { functionLimit, type Lease, type Outcome, type Regained } from '@crossgear/core-scheduler'
import {
  aJob,
  completed,
  type ContractTests,
  failed,
  fetch,
  killed,
  requeued,
  requeuedInFront,
  retried,
  seen,
  submitAll,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'
import type { SteppedStore, StoreWorld } from '../store-world.ts'

/** A job whose first worker has lost it, and where it stands since. */
interface Place {
  readonly where: string
  /** Acts on the job once the first worker has it. Returns the lease of another worker that has it now. */
  readonly lose: (parts: Parts) => Promise<Lease | undefined>
  readonly regained: Regained
}

interface Parts {
  readonly world: StoreWorld
  readonly store: SteppedStore
  readonly first: Lease
}

const lost = (lease: Lease): Outcome => requeued(lease, true)
const late = (outcome: Outcome): Outcome => ({ ...outcome, isLate: true }) as Outcome
const endsWith = async (store: SteppedStore, outcome: Outcome): Promise<undefined> => {
  await store.steps.finish('mail', [outcome])
}

const places: readonly Place[] = [
  {
    where: 'in its queue',
    lose: ({ store, first }) => endsWith(store, lost(first)),
    regained: 'last',
  },
  {
    where: 'in the middle of a long queue',
    lose: async ({ store, first }) => {
      await submitAll(
        store,
        'mail',
        Array.from({ length: 30 }, () => aJob()),
      )
      await endsWith(store, lost(first))
      await submitAll(
        store,
        'mail',
        Array.from({ length: 30 }, () => aJob({ level: 9 })),
      )
    },
    regained: 'last',
  },
  {
    where: 'at another worker',
    lose: async ({ store, first }) => {
      await endsWith(store, lost(first))
      return takeOne(store, 'mail')
    },
    regained: 'earlier',
  },
  {
    where: 'at a consumer',
    lose: async ({ store, first }) => {
      await endsWith(store, lost(first))
      return (await fetch(store, 'default', ['mail']))[0]
    },
    regained: 'earlier',
  },
  {
    where: 'at a native worker',
    lose: async ({ world, store, first }) => {
      await endsWith(store, lost(first))
      await world.native.take('mail')
      return undefined
    },
    regained: 'last',
  },
  {
    where: 'in its queue again, after another worker lost it too',
    lose: async ({ store, first }) => {
      await endsWith(store, lost(first))
      await endsWith(store, lost(await takeOne(store, 'mail')))
    },
    regained: 'earlier',
  },
  {
    where: 'in its queue again, as another worker never saw it',
    lose: async ({ store, first }) => {
      await endsWith(store, lost(first))
      await endsWith(store, requeuedInFront(await takeOne(store, 'mail')))
    },
    regained: 'last',
  },
  {
    where: 'among the retries, as it was late',
    lose: ({ store, first }) => endsWith(store, late(retried(first, 60_000))),
    regained: 'last',
  },
  {
    where: 'among the retries, as another worker failed',
    lose: async ({ store, first }) => {
      await endsWith(store, lost(first))
      await endsWith(store, retried(await takeOne(store, 'mail'), 60_000))
    },
    regained: 'last',
  },
  {
    where: 'among the dead, as it was late',
    lose: ({ store, first }) => endsWith(store, late(killed(first))),
    regained: 'last',
  },
  {
    where: 'among the dead, as too many workers were lost',
    lose: ({ store, first }) => endsWith(store, requeued(first, true, 1)),
    regained: 'last',
  },
]

const endings = [
  ['done', completed],
  ['failed for good', failed],
] as const

/** Outcomes of workers whose lease was lost before they came. */
export function lateContract({ open, test }: ContractTests): void {
  describe('a late outcome', () => {
    for (const { where, lose, regained } of places) {
      test.for(endings)(
        `ends a job that is ${where}: %s`,
        async ([, outcome], { world, store }) => {
          const id = await submitOne(store, 'mail', { door: 'faktory', jid: 'late-1' })
          const other = await world.node()
          const first = await takeOne(store, 'mail')
          const standing = async () => (await store.lanes.sizes(['mail']))[0]
          const now = await lose({ world, store: other, first })
          const before = await standing()
          expect(await store.steps.finish('mail', [outcome(first)])).toEqual(['unknown'])
          expect(await store.jobs.regain(first)).toBe(regained)
          expect(await seen(store, 'mail', id)).toMatchObject({
            status: 'busy',
            token: first.token,
          })
          if (now) expect(await other.steps.finish('mail', [completed(now)])).toEqual(['unknown'])
          expect(await store.steps.finish('mail', [outcome(first)])).toEqual(['done'])
          expect(await store.jobs.findJid('late-1')).toBeUndefined()
          for (const lease of [first, ...(now ? [now] : [])]) {
            expect(await other.jobs.regain(lease)).toBe('no')
          }
          const { normal = 0 } = before ?? {}
          expect(await standing()).toMatchObject({
            running: 0,
            normal: where.includes('queue') ? normal - 1 : normal,
          })
        },
      )
    }

    test('of a lease that the job never had changes nothing', async ({ store }) => {
      const id = await submitOne(store, 'mail')
      const first = await takeOne(store, 'mail')
      expect(await store.jobs.regain({ ...first, token: `${first.token}0` })).toBe('no')
      expect(await store.jobs.regain(first)).toBe('no')
      await store.steps.finish('mail', [retried(first, 60_000)])
      expect(await store.jobs.regain(first)).toBe('no')
      expect(await store.jobs.regain({ ...first, id: id + 1 })).toBe('no')
    })

    test('may be followed by that of the worker which lost the job by it', async ({ store }) => {
      await submitOne(store, 'mail', { door: 'faktory' })
      const first = await takeOne(store, 'mail')
      await store.steps.finish('mail', [lost(first)])
      const second = await takeOne(store, 'mail')
      expect(await store.jobs.regain(first)).toBe('earlier')
      expect(await store.steps.finish('mail', [retried(first, 60_000)])).toEqual(['done'])
      expect(await store.steps.finish('mail', [completed(second)])).toEqual(['unknown'])
      expect(await store.jobs.regain(second)).toBe('last')
      expect(await store.steps.finish('mail', [completed(second)])).toEqual(['done'])
      expect((await store.lanes.sizes(['mail']))[0]).toMatchObject({ normal: 0, running: 0 })
    })

    test.for([
      ['a slot of a limited function', { concurrency: 1 }],
      ['the turn of its value', { concurrency: 1, isPerTurn: true as const }],
    ] as const)('frees %s', async ([, limit]) => {
      const throttles = new Map([[functionLimit('mail'), limit]])
      const store = await (await open({ throttles })).node()
      await submitAll(store, 'mail', [aJob({ turn: 'a' }), aJob({ turn: 'a' })])
      const first = await takeOne(store, 'mail')
      await store.steps.finish('mail', [lost(first)])
      const second = await takeOne(store, 'mail')
      for (const [lease, next] of [
        [first, second],
        [second, first],
      ] as const) {
        const isFirst = lease.id === first.id && lease.token === first.token
        if (isFirst) expect(await store.jobs.regain(lease)).not.toBe('no')
        expect(await store.steps.finish('mail', [completed(lease)])).toEqual([
          isFirst || lease.id !== next.id ? 'done' : 'unknown',
        ])
      }
      const [third] = await take(store, ['mail'])
      if (third) await store.steps.finish('mail', [completed(third)])
      expect((await store.lanes.sizes(['mail']))[0]).toMatchObject({ normal: 0, running: 0 })
    })

    test('finds the lease among the last sixteen', async ({ store }) => {
      await submitOne(store, 'mail')
      const leases: Lease[] = []
      for (let losses = 0; losses < 17; losses += 1) {
        const lease = await takeOne(store, 'mail')
        leases.push(lease)
        await store.steps.finish('mail', [lost(lease)])
      }
      const [oldest, second] = leases
      expect(oldest && (await store.jobs.regain(oldest))).toBe('no')
      expect(second && (await store.jobs.regain(second))).toBe('earlier')
    })

    test('is known by the last lease that a consumer lost', async ({ store }) => {
      const id = await submitOne(store, 'mail')
      const [first] = await fetch(store, 'default', ['mail'])
      if (!first) throw new Error('nothing to fetch')
      await store.steps.finish('mail', [lost(first)])
      await store.steps.finish('mail', [lost(await takeOne(store, 'mail'))])
      expect(await seen(store, 'mail', id)).toMatchObject({ formerToken: first.token })
    })
  })
}
