import fc from 'fast-check'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RedisStore } from '../../src/index.ts'
import { FilledStore } from './filled-store.ts'

const lanes = Array.from({ length: 500 }, (_none, at) => `f${at + 1}`)
/** Lanes of one call. */
const perCall = 128

let filled: FilledStore
/** Nobody tells it of changes, so that it reads all. */
let other: RedisStore

async function openAll(): Promise<void> {
  filled = await FilledStore.open()
  const words = ['on', '>x', '~*', '+@all', 'resetchannels', '&channel:*', '&xg:*']
  await filled.redis.call('ACL', 'SETUSER', 'unheard', ...words)
  const { path } = filled.redis.options
  other = new RedisStore({ path: path ?? '', username: 'unheard', password: 'x' })
  await other.open()
}

async function closeAll(): Promise<void> {
  await other.close()
  await filled.close()
}

/** A time of this moment: of a job without its own. */
const recentMs = 1_700_000_001_000

async function figuresAt(store: RedisStore, some: readonly string[]): Promise<readonly unknown[]> {
  const found = [await store.lanes.backlogs(some), await store.lanes.counts(some, true)].flat()
  return found.map((figures) => {
    const isNow = figures.oldestMs !== undefined && figures.oldestMs > recentMs
    return isNow ? { ...figures, oldestMs: 'now' } : figures
  })
}

/** One job more in each lane, as a submission has it. */
async function submitToAll(): Promise<void> {
  await filled.fill(
    lanes.length,
    `
for number = first, last do
  local lane = 'f' .. number
  local id = redis.call('INCR', 'uid:' .. lane)
  redis.call('HSET', 'job:' .. lane .. ':' .. id, 'status', 'idle', 'enqueued', 1700000000000 + id)
  redis.call('LPUSH', 'queue:' .. lane .. ':normal', id)
  redis.call('HINCRBY', 'xg:lane:' .. lane, 'submitted', 1)
end`,
  )
}

describe.skipIf(lacksRedis)('lanes that change between polls', () => {
  beforeEach(async () => {
    await openAll()
    await filled.fillLanes(lanes.length)
  })
  afterEach(closeAll)

  test('cost a poll 4 commands each once the rest of them is watched', async () => {
    const store = await filled.world.node()
    for (let look = 0; look < 8; look += 1) {
      await submitToAll()
      await store.lanes.backlogs(lanes)
    }
    await submitToAll()
    const cost = await filled.cost(async () => {
      const found = await store.lanes.backlogs(lanes)
      expect(
        found.every(({ normal, oldestMs }) => normal === 9 && oldestMs === 1700000000001),
      ).toBe(true)
    })
    expect(cost.scripts).toBe(Math.ceil(lanes.length / perCall))
    const calls = ['llen', 'lindex', 'hget', 'hmget', 'exists', 'zcard'].map(cost.calls)
    expect(calls).toEqual([500, 500, 1_000, 0, 0, 0])
  })

  test('cost a poll 5 commands each while other jobs are next', async () => {
    for (const lane of lanes) await filled.fillQueue(lane, 10)
    const store = await filled.world.node()
    const take = (): Promise<void> =>
      filled.fill(
        lanes.length,
        `for at = first, last do redis.call('RPOP', 'queue:f' .. at .. ':normal') end`,
      )
    for (let look = 0; look < 6; look += 1) {
      await store.lanes.backlogs(lanes)
      await take()
    }
    const cost = await filled.cost(async () => {
      const found = await store.lanes.backlogs(lanes)
      expect(
        found.every(({ normal, oldestMs }) => normal === 4 && oldestMs === 1700000000007),
      ).toBe(true)
    })
    expect(['llen', 'lindex', 'hget', 'exists'].map(cost.calls)).toEqual([500, 500, 1_500, 0])
  })

  test('are read again when the connection was lost', async () => {
    const store = await filled.world.node()
    for (let look = 0; look < 6; look += 1) {
      await submitToAll()
      await store.lanes.backlogs(lanes)
    }
    for (const kind of ['normal', 'pubsub']) {
      await filled.redis.call('CLIENT', 'KILL', 'TYPE', kind, 'SKIPME', 'yes')
      await submitToAll()
      await filled.redis.zadd('xg:busy:f9', 8e15, 1)
      const ask = (): Promise<unknown> => figuresAt(store, lanes).catch(() => 'down')
      const there = (): Promise<unknown> => figuresAt(other, lanes).catch(() => 'away')
      await expect
        .poll(async () => (await ask()) !== 'down' && (await there()) !== 'away')
        .toBe(true)
      expect(await ask()).toEqual(await there())
    }
  })

  test('show each job in one place at any moment of a move', async () => {
    const store = await filled.world.node()
    const { redis } = filled
    const mover = redis.duplicate()
    for (let job = 1; job <= 99; job += 1) await redis.lpush('queue:f1:normal', job)
    for (let job = 1; job <= 99; job += 1) await redis.hset(`job:f1:${job}`, 'enqueued', job)
    const takeOne = `redis.call('ZADD', 'xg:busy:f1', 8e15, redis.call('RPOP', 'queue:f1:normal'))`
    for (let look = 0; look < 400; look += 1) {
      // So that the list is read at each look, and the others are known.
      await redis.rpoplpush('queue:f1:normal', 'queue:f1:normal')
      const looked = store.lanes.backlogs(['f1'])
      if (look % 8 === 7) {
        // At other steps of the look each time.
        for (let pings = look % 3; pings > 0; pings -= 1) await mover.ping()
        await mover.eval(takeOne, 0)
      }
      const [found] = await looked
      expect((found?.normal ?? 0) + (found?.running ?? 0)).toBe(99)
    }
    mover.disconnect()
  })

  test('show the time of the next job after another was next', async () => {
    const store = await filled.world.node()
    const { redis } = filled
    const oldest = async (): Promise<number | undefined> => {
      const [found] = await store.lanes.backlogs(['f1'])
      return found?.oldestMs
    }
    await filled.fillQueue('f1', 3)
    for (let look = 0; look < 8; look += 1) {
      await redis.lpush('queue:f1:normal', 3)
      expect(await oldest()).toBe(1_700_000_000_001)
    }
    await redis.rpop('queue:f1:normal')
    expect(await oldest()).toBe(1_700_000_000_002)
    await redis.rpop('queue:f1:normal')
    await redis.hset('job:f1:2', 'enqueued', 1_700_000_000_009)
    await redis.rpush('queue:f1:normal', 2)
    expect(await oldest()).toBe(1_700_000_000_009)
  })

  test('count jobs of unusual levels, which are queued outside the lists', async () => {
    const store = await filled.world.node()
    const { redis } = filled
    const high = async (): Promise<number | undefined> => {
      await redis.lpush('queue:f1:high', 1)
      const [found] = await store.lanes.backlogs(['f1'])
      return found?.high
    }
    await redis.hset('job:f1:1', 'enqueued', 1_700_000_000_001)
    for (let look = 1; look <= 8; look += 1) expect(await high()).toBe(look)
    await redis.lpush('xg:level:f1:9', 2)
    await redis.hset('xg:lane:f1', 'aside', 1)
    expect(await high()).toBe(10)
    const cost = await filled.cost(async () => expect(await high()).toBe(11))
    expect(cost.scripts).toBe(1)
    await redis.del('xg:level:f1:9')
    await redis.hdel('xg:lane:f1', 'aside')
    expect(await high()).toBe(11)
    expect(await high()).toBe(12)
    expect(await high()).toBe(13)
  })
})

/** Commands of any program, on all that figures are read from. */
type Command = readonly (string | number)[]

const id = fc.integer({ min: 1, max: 4 })
const band = fc.constantFrom('high', 'normal', 'low')
const queue = band.map((name) => `queue:f1:${name}`)
const set = fc.constantFrom('queue:f1:scheduled', 'xg:busy:f1', 'xg:dead:f1')
const key = fc.oneof(queue, set, fc.constantFrom('count:f1', 'xg:lane:f1'))
const since = fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_009 })

const laneHash = fc.constant('xg:lane:f1')

/** A change of a job's own time: whatever changes that takes the job out of its queue and puts it into one. */
const retimed: fc.Arbitrary<Command[]> = fc
  .tuple(id, queue, fc.oneof(since, fc.constantFrom('DEL', 'PEXPIRE')))
  .map(([number, to, change]) => [
    ...['high', 'normal', 'low'].map((from) => ['LREM', `queue:f1:${from}`, 0, number]),
    typeof change === 'number'
      ? ['HSET', jobKey(number), 'enqueued', change]
      : [change, jobKey(number), ...(change === 'DEL' ? [] : [1])],
    ['RPUSH', to, number],
  ])

const oneCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom('LPUSH', 'RPUSH'), queue, id) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom('RPOP', 'LPOP'), queue) },
  fc.tuple(fc.constant('DEL'), key),
  fc.tuple(fc.constant('PEXPIRE'), key, fc.constant(1)),
  fc.tuple(fc.constant('ZADD'), set, fc.constantFrom(4e9, 4e12), id),
  fc.tuple(fc.constant('ZREM'), set, id),
  fc.tuple(fc.constantFrom('INCR', 'DECR'), fc.constant('count:f1')),
  fc.tuple(
    fc.constant('HINCRBY'),
    laneHash,
    fc.constantFrom('submitted', 'completed', 'expired'),
    fc.constant(1),
  ),
  fc.tuple(fc.constantFrom('HSET', 'HDEL'), laneHash, fc.constant('aside'), fc.constant(1)),
  fc.tuple(
    fc.constant('HSET'),
    laneHash,
    fc.constantFrom('consumers', 'labelled'),
    fc.constantFrom(0, 1, 2),
  ),
  fc.tuple(fc.constantFrom('HSET', 'HDEL'), laneHash, fc.constant('open'), fc.constantFrom(0, 1)),
  fc.tuple(fc.constant('HSET'), laneHash, fc.constant('closed'), fc.constantFrom(1, 4e12)),
  fc.tuple(
    fc.constant('SET'),
    fc.oneof(queue, fc.constant('queue:f1:scheduled')),
    fc.constant('x'),
  ),
  fc.tuple(fc.constant('FLUSHALL')),
)

function jobKey(number: number): string {
  return `job:f1:${number}`
}

/** Changes of keys that are not watched: programs change a watched one, too. */
const pairs: readonly Command[][] = [
  [
    ['LPUSH', 'xg:level:f1:9', 1],
    ['HINCRBY', 'xg:lane:f1', 'submitted', 1],
  ],
  [
    ['RPOP', 'xg:level:f1:9'],
    ['HSET', 'xg:lane:f1', 'aside', 2],
  ],
  [
    ['DEL', 'xg:level:f1:9'],
    ['HDEL', 'xg:lane:f1', 'aside'],
  ],
  [
    ['ZADD', 'queue:f1:scheduled', 4e9, 9],
    ['ZADD', 'xg:retries:f1', 4e12, 9],
  ],
  [
    ['ZREM', 'queue:f1:scheduled', 9],
    ['ZREM', 'xg:retries:f1', 9],
  ],
]

/** Some changes, then a look. */
const round: fc.Arbitrary<Command[]> = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: oneCommand.map((one) => [one]) },
      { weight: 2, arbitrary: retimed },
      fc.constantFrom(...pairs),
    ),
    { maxLength: 3 },
  )
  .map((some) => some.flat())

describe.skipIf(lacksRedis)('figures that are read in parts', () => {
  beforeEach(openAll)
  afterEach(closeAll)

  test('are those of a node that reads all lanes, whatever programs do to any key', async () => {
    const store = await filled.world.node()
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 5, maxLength: 40 }), async (rounds) => {
        await filled.redis.flushall()
        for (const number of [1, 2, 3, 4]) {
          await filled.redis.hset(jobKey(number), 'enqueued', 1_700_000_000_000 + number)
        }
        for (const commands of rounds) {
          for (const [name, ...words] of commands) {
            // A command that another type refuses changes nothing.
            await filled.redis.call(String(name), ...words).catch(() => undefined)
            if (name !== 'PEXPIRE') continue
            const there = (): Promise<number> => filled.redis.exists(String(words[0]))
            await expect.poll(there, { interval: 1 }).toBe(0)
          }
          const now = await figuresAt(other, ['f1', 'f2'])
          expect(await figuresAt(store, ['f1', 'f2'])).toEqual(now)
        }
      }),
      { numRuns: 150 },
    )
  })
})
