import fc from 'fast-check'
import type {
  JobPlace,
  JobSet,
  LaneCounts,
  Lease,
  Level,
  NewJob,
  Outcome,
  SetExit,
  Taken,
} from '@crossgear/core-scheduler'
import { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import type { SteppedStore, StoreWorld } from './contract/store-world.ts'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { playsAll } from '@crossgear/tools/sample'
import { withRedisServer } from '@crossgear/tools/suites'
import { describe, expect, test } from 'vitest'
import { checkInvariants } from '../src/invariants/invariants.ts'
import { ServerInProcess } from './support/in-process.ts'
import { RedisWorld } from './support/redis-world.ts'

type Step =
  | { readonly kind: 'submit'; readonly jobs: readonly (readonly [Level, number])[] }
  | { readonly kind: 'claim'; readonly max: number; readonly by: 'named' | 'consumer' }
  | { readonly kind: 'end'; readonly at: number; readonly outcome: Outcome['kind'] }
  | { readonly kind: 'abandon'; readonly id: number }
  | { readonly kind: 'workers'; readonly named: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'cancel'; readonly id: number; readonly as: Taken }
  | { readonly kind: 'move'; readonly set: JobSet; readonly id: number; readonly to: SetExit }
  | { readonly kind: 'endJobs'; readonly place: JobPlace; readonly max: number }
  | { readonly kind: 'endQueued'; readonly ids: readonly number[]; readonly as: Taken }
  | { readonly kind: 'endStale'; readonly max: number }

const level = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Level>(2, 5, 8) },
  { weight: 4, arbitrary: fc.constantFrom<Level>(1, 2, 3, 4, 5, 6, 7, 8, 9) },
)

const id = fc.integer({ min: 1, max: 12 })
const ways: readonly Taken[] = ['cancelled', 'deleted', 'moved', 'withdrawn']

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      jobs: fc.array(fc.tuple(level, fc.nat(9)), { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      max: fc.integer({ min: 1, max: 4 }),
      by: fc.constantFrom('named' as const, 'consumer' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      at: fc.nat(5),
      outcome: fc.constantFrom<Outcome['kind']>(
        'complete',
        'fail',
        'retry',
        'dead',
        'requeue',
        'requeueFront',
      ),
    }),
  },
  fc.record({ kind: fc.constant('abandon' as const), id }),
  fc.record({ kind: fc.constant('workers' as const), named: fc.nat(1) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 50_000, 150_000) }),
  fc.record({ kind: fc.constant('cancel' as const), id, as: fc.constantFrom(...ways) }),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      set: fc.constantFrom<JobSet>('retries', 'dead', 'scheduled'),
      id,
      to: fc.constantFrom<SetExit[]>('queue', 'dead', { dueAtMs: 0 }, { dueAtMs: 8e12 }, ...ways),
    }),
  },
  fc.record({
    kind: fc.constant('endJobs' as const),
    place: fc.constantFrom<JobPlace>('high', 'normal', 'low', 'scheduled', 'dead'),
    max: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({
    kind: fc.constant('endQueued' as const),
    ids: fc.array(id, { minLength: 1, maxLength: 4 }),
    as: fc.constantFrom(...ways),
  }),
  fc.record({ kind: fc.constant('endStale' as const), max: fc.integer({ min: 1, max: 3 }) }),
)

/** The figure decides what else a job is: coalesced, waited for, kept, taken only if, or soon too old. */
function jobOf([jobLevel, figure]: readonly [Level, number], nowMs: number): NewJob {
  return {
    input: Buffer.from(String(figure)),
    door: 'gearman',
    level: jobLevel,
    foreground: figure % 3 === 0,
    ...(figure > 6 && { unique: Buffer.from(String(figure)) }),
    ...(figure === 5 && { retentionSeconds: 86_400 }),
    ...(figure === 1 && { admission: { needsWorker: true } }),
    ...(figure === 2 && { admission: { maxWaiting: 5 }, isTimed: true, reserveForSeconds: 60 }),
    ...((figure === 3 || figure === 4) && { staleAtMs: nowMs + 75_000 }),
    ...(figure === 4 && { diesStale: true }),
  }
}

function outcomeOf({ lane, id, token }: Lease, kind: Outcome['kind']): Outcome {
  const [held, message, failure] = [{ lane, id, token }, Buffer.from('m'), '{"retry_count":0}']
  switch (kind) {
    case 'complete':
      return { ...held, kind, output: message }
    case 'fail':
      return { ...held, kind, message }
    case 'retry':
      return { ...held, kind, message, failure, delayMs: 100_000 }
    case 'dead':
      return { ...held, kind, message, failure }
    case 'requeue':
      return { ...held, kind, lost: true, maxLosses: 2, failure: '{}' }
    case 'requeueFront':
      return { ...held, kind }
  }
}

/** All that jobs can be, added up. */
function accountOf(lane: LaneCounts): number {
  const { high, normal, low, running, scheduled, dead } = lane
  const { completed, failed, lost, expired, cancelled, deleted } = lane
  const ended = completed + failed + lost + expired + cancelled + deleted
  return high + normal + low + running + scheduled + dead + ended
}

/** Takes the steps and tells what the store answered to each, and what it holds after it. `nowMs`: the store's clock. */
async function play(
  world: StoreWorld,
  store: SteppedStore,
  steps: readonly Step[],
  nowMs: () => number,
): Promise<unknown[]> {
  const held: Lease[] = []
  const answers: unknown[] = []
  for (const one of steps) {
    answers.push(await answerTo(world, store, one, { held, nowMs }))
    const counts = await store.lanes.counts(['mail'])
    for (const lane of counts) expect(accountOf(lane)).toBe(lane.submitted)
    answers.push(counts)
  }
  const ids = Array.from({ length: 40 }, (_none, at) => at + 1)
  const left = await store.jobs.read('mail', ids)
  answers.push(left.map((job) => job && [job.id, job.status, job.level, job.losses, job.waiting]))
  return answers
}

async function answerTo(
  world: StoreWorld,
  store: SteppedStore,
  one: Step,
  { held, nowMs }: { readonly held: Lease[]; readonly nowMs: () => number },
): Promise<unknown> {
  switch (one.kind) {
    case 'submit': {
      const jobs = one.jobs.map((job) => jobOf(job, nowMs()))
      return store.steps.submit('mail', jobs)
    }
    case 'claim': {
      const groups = [{ lanes: ['mail'] }]
      const jobs = await store.steps.claim({ by: one.by, groups, max: one.max })
      held.push(...jobs)
      return jobs.map((job) => [job.id, job.level, job.input.toString(), job.heldBy])
    }
    case 'end': {
      const [job] = held.splice(one.at, 1)
      return job && store.steps.finish('mail', [outcomeOf(job, one.outcome)])
    }
    case 'abandon':
      return store.jobs.abandon('mail', [one.id])
    case 'workers':
      return store.lanes.setWorkers(new Map([['mail', { named: one.named, consumers: 1 }]]))
    case 'pass':
      await world.pass(one.ms)
      return store.lanes.promote()
    case 'cancel':
      return store.admin.cancel('mail', one.id, one.as)
    case 'move':
      // Only jobs that are due for the first time are given another time.
      return store.queues.moveJobs(
        'mail',
        typeof one.to === 'object' ? 'scheduled' : one.set,
        [one.id],
        one.to,
      )
    case 'endJobs':
      return store.queues.endJobs('mail', [one.place], one.max)
    case 'endStale':
      return store.queues.endStale(['mail'], one.max)
    case 'endQueued': {
      const piece = { lane: 'mail', band: 'normal', from: 0, count: 20, ids: one.ids } as const
      return (await store.queues.endQueued(piece, one.as)) === 'deep'
    }
  }
}

describe.skipIf(lacksRedis)('with redis-server,', () => {
  let server: RedisServer
  withRedisServer((started) => (server = started))

  test('every sequence of steps has the answers that it has inside the process, stays consistent, and no job is missing in its books', async () => {
    const inside = await ServerInProcess.start()
    const real = await RedisWorld.open({ path: server.path })
    const store = await real.node()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        await real.redis.flushall()
        inside.follow(new ManualClock())
        const world = await RedisWorld.open(inside.address, {}, inside)
        const expected = await play(world, await world.node(), steps, () => inside.nowMs())
        expect(await play(real, store, steps, Date.now)).toEqual(expected)
        expect(await checkInvariants(real.redis)).toEqual([])
        expect(await world.violations()).toEqual([])
        await world.close()
      }),
      // Other sequences in each run, and more of them at night.
      { numRuns: playsAll() ? 150 : 50 },
    )
    await real.close()
  })
})
