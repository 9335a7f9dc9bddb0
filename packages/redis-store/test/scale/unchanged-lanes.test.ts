import fc from 'fast-check'
import type { Lease, Level, NewJob, Outcome } from '@crossgear/core-scheduler'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RedisStore } from '../../src/index.ts'
import { RedisWorld } from '../support/redis-world.ts'
import { FilledStore } from './filled-store.ts'

const lanes = Array.from({ length: 500 }, (_none, at) => `f${at + 1}`)
/** Commands of a look besides its lanes: the question if all changes were told, and the look at the cost. */
const spare = 20

/** Looks until the lanes are known to stay as they are. */
async function settle(store: RedisStore, some: readonly string[], looks = 3): Promise<void> {
  for (let look = 0; look < looks; look += 1) await figuresAt(store, some)
}

/** All that nodes keep of lanes that stay as they are: a scrape's figures, and those of the API. */
async function figuresAt(store: RedisStore, some: readonly string[]): Promise<readonly unknown[]> {
  return [await store.lanes.backlogs(some), await store.lanes.counts(some, true)]
}

/** A change of lane `f1` by any program, as Redis commands. */
type Change = readonly (string | number)[]

const changes: readonly (readonly [what: string, ...Change[]])[] = [
  ['a job in the normal queue', ['LPUSH', 'queue:f1:normal', 77]],
  ['a job in the high queue', ['LPUSH', 'queue:f1:high', 77]],
  ['a job in the low queue', ['LPUSH', 'queue:f1:low', 77]],
  ['a job taken', ['RPOP', 'queue:f1:normal']],
  ['another job in its place', ['RPOP', 'queue:f1:normal'], ['LPUSH', 'queue:f1:normal', 78]],
  ['a scheduled job', ['ZADD', 'queue:f1:scheduled', 4e9, 77]],
  ['a retry', ['ZADD', 'queue:f1:scheduled', 4e9, 77], ['ZADD', 'xg:retries:f1', 4e12, 77]],
  ['a running job', ['ZADD', 'xg:busy:f1', 8e15, 77]],
  ['a dead job', ['ZADD', 'xg:dead:f1', 4e12, 77]],
  ['a worker', ['SET', 'count:f1', 3]],
  ['a job that was completed', ['HINCRBY', 'xg:lane:f1', 'completed', 1]],
  ['a lane that was closed', ['HSET', 'xg:lane:f1', 'open', 0]],
  ['an expired job', ['HINCRBY', 'xg:lane:f1', 'expired', 1]],
  ['jobs beside a list', ['LPUSH', 'xg:level:f1:9', 77], ['HSET', 'xg:lane:f1', 'aside', 1]],
  ['a removed queue', ['DEL', 'queue:f1:normal']],
  ['another type in its place', ['SET', 'queue:f1:normal', 'x']],
]

describe.skipIf(lacksRedis)('lanes in which nothing changed', () => {
  let filled: FilledStore

  beforeEach(async () => {
    filled = await FilledStore.open()
    await filled.fillLanes(lanes.length)
  })
  afterEach(() => filled.close())

  test('cost a reading nothing, and changed ones only their own cost', async () => {
    for (const lane of lanes) await filled.fillQueue(lane, 2)
    const store = await filled.world.node()
    await settle(store, lanes)
    const idle = await filled.cost(() => figuresAt(store, lanes))
    expect(idle.commands + idle.scripts).toBeLessThanOrEqual(spare)
    await filled.fillQueue('f7', 1)
    const one = await filled.cost(async () => {
      const found = await store.lanes.backlogs(lanes)
      expect(found.map(({ normal }) => normal)).toEqual(
        lanes.map((lane) => (lane === 'f7' ? 3 : 2)),
      )
    })
    expect(one.scripts).toBe(1)
    expect(one.calls('llen')).toBe(1)
  })

  test('are watched in parts if they are many, each a few polls later at most', async () => {
    await filled.fillLanes(9_000)
    const store = await filled.world.node()
    const many = Array.from({ length: 9_000 }, (_none, at) => `f${at + 1}`)
    const keys = async (): Promise<number> =>
      Number(/tracking_total_keys:(\d+)/.exec(await filled.redis.info('stats'))?.[1])
    const watched: number[] = []
    for (let look = 0; look < 5; look += 1) {
      await store.lanes.backlogs(many)
      watched.push((await keys()) / 8)
    }
    expect(watched).toEqual([0, 0, 4_000, 8_000, 9_000])
  })

  test.each(changes)('are read again after %s', async (_what, ...commands) => {
    for (const lane of ['f1', 'f2']) await filled.fillQueue(lane, 2)
    const some = ['f1', 'f2', 'f3']
    const store = await filled.world.node()
    await settle(store, some)
    for (const [command, ...words] of commands) await filled.redis.call(String(command), ...words)
    const other = await filled.world.node()
    const now = await figuresAt(other, some)
    expect(await figuresAt(store, some)).toEqual(now)
    await settle(store, some)
    expect(await figuresAt(store, some)).toEqual(now)
  })

  test('are read again after the server was emptied', async () => {
    await filled.fillQueue('f1', 2)
    const store = await filled.world.node()
    await settle(store, ['f1'])
    await filled.redis.flushall()
    expect(await store.lanes.backlogs(['f1'])).toMatchObject([{ normal: 0, oldestMs: undefined }])
  })

  test.each(['normal', 'pubsub'])(
    'are read again when the %s connection was lost',
    async (kind) => {
      await filled.fillQueue('f1', 2)
      const store = await filled.world.node()
      await settle(store, ['f1'])
      await filled.redis.call('CLIENT', 'KILL', 'TYPE', kind, 'SKIPME', 'yes')
      await filled.redis.lpush('queue:f1:normal', 77)
      await expect
        .poll(async () => {
          const [found] = await store.lanes.backlogs(['f1'])
          return found?.normal
        })
        .toBe(3)
      await expect
        .poll(() =>
          store.check().then(
            () => 'up',
            () => 'down',
          ),
        )
        .toBe('up')
      await settle(store, ['f1'])
      await filled.redis.lpush('queue:f1:normal', 78)
      expect(await store.lanes.backlogs(['f1'])).toMatchObject([{ normal: 4 }])
      await settle(store, ['f1'])
      const idle = await filled.cost(() => store.lanes.backlogs(['f1']))
      expect(idle.scripts).toBe(0)
    },
  )

  test('are read each time by a user that may not track keys', async () => {
    await filled.redis.call(
      ...['ACL', 'SETUSER', 'default', 'resetchannels', '&channel:*', '&xg:*'],
    )
    await filled.fillQueue('f1', 2)
    const store = await filled.world.node()
    await settle(store, ['f1'])
    await filled.redis.lpush('queue:f1:normal', 77)
    expect(await store.lanes.backlogs(['f1'])).toMatchObject([{ normal: 3 }])
    const look = await filled.cost(() => store.lanes.backlogs(['f1']))
    expect(look.scripts).toBe(1)
  })

  test('have current figures where these depend on the time', async () => {
    await filled.redis.lpush('queue:f1:normal', 1)
    const store = await filled.world.node()
    await settle(store, ['f1'])
    const oldest = async (): Promise<number> => {
      const [found] = await store.lanes.backlogs(['f1'])
      return found?.oldestMs ?? 0
    }
    const first = await oldest()
    await expect.poll(oldest).toBeGreaterThan(first)
  })

  test('are open again when workers that left no longer close them', async () => {
    const store = await filled.world.node()
    const openness = async (): Promise<string | undefined> => {
      const [found] = await store.lanes.counts(['new'], true)
      return found?.openness
    }
    await filled.redis.hset('xg:lane:new', 'closed', Date.now() + 500)
    await settle(store, ['new'])
    expect(await openness()).toBe('closed')
    await expect.poll(openness).toBe('auto')
  })
})

type Act =
  | { readonly submit: readonly Level[] }
  | { readonly claim: number }
  | { readonly end: Outcome['kind'] }
  | { readonly looks: number }

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    submit: fc.array(fc.constantFrom<Level>(2, 5, 8, 9, 3), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ claim: fc.integer({ min: 1, max: 3 }) }),
  fc.record({
    end: fc.constantFrom<Outcome['kind']>('complete', 'retry', 'dead', 'requeue', 'requeueFront'),
  }),
  { weight: 2, arbitrary: fc.record({ looks: fc.integer({ min: 1, max: 4 }) }) },
)

function outcomeOf({ lane, id, token }: Lease, kind: Outcome['kind']): Outcome {
  const [message, failure] = [Buffer.from('no'), '{}']
  const held = { lane, id, token }
  if (kind === 'complete') return { ...held, kind, output: message }
  if (kind === 'retry') return { ...held, kind, message, failure, delayMs: 100_000 }
  if (kind === 'requeue') return { ...held, kind, lost: true, maxLosses: 9, failure: '{}' }
  return kind === 'requeueFront' ? { ...held, kind } : { ...held, kind: 'dead', message, failure }
}

describe.skipIf(lacksRedis)('the figures of a node that reads only changes', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await RedisServer.start()
  })
  afterAll(() => server.stop())

  test('equal those of a node that reads all lanes, whatever another node does in between', async () => {
    const world = await RedisWorld.open({ path: server.path })
    const [store, worker] = [await world.node(), await world.node()]
    const words = ['on', '>x', '~*', '+@all', 'resetchannels', '&channel:*', '&xg:*']
    await world.redis.call('ACL', 'SETUSER', 'unheard', ...words)
    // Nobody tells it of changes, so that it reads all.
    const other = new RedisStore({ path: server.path, username: 'unheard', password: 'x' })
    await other.open()
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 30 }), async (acts) => {
        await world.redis.flushall()
        const held: Lease[] = []
        for (const one of [...acts, { looks: 1 }]) {
          if ('submit' in one) {
            await worker.steps.submit('mail', one.submit.map(jobOf))
          } else if ('claim' in one) {
            const groups = [{ lanes: ['mail'] }]
            held.push(...(await worker.steps.claim({ by: 'named', groups, max: one.claim })))
          } else if ('end' in one) {
            const job = held.shift()
            if (job) await worker.steps.finish('mail', [outcomeOf(job, one.end)])
          } else {
            await settle(store, ['mail'], one.looks)
            expect(await figuresAt(store, ['mail'])).toEqual(await figuresAt(other, ['mail']))
          }
        }
      }),
      { numRuns: 100 },
    )
    await other.close()
    await world.close()
  })
})

function jobOf(level: Level): NewJob {
  return { level, input: Buffer.from('x'), foreground: false, door: 'gearman' }
}
