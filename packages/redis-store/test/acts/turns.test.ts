import { functionLimit, type NewJob, type Throttle } from '@crossgear/core-scheduler'
import { aJob, completed, inputsOf, namesOf, submitAll, take, takeOne } from '../contract/kit.ts'
import type { SteppedStore } from '../contract/store-world.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { StoreKeys } from '../../src/index.ts'
import { RedisWorld } from '../support/redis-world.ts'
import { aCluster, oneServer, type Servers } from '../support/servers.ts'

const suites = [
  ['on one server', oneServer],
  ['in a cluster', aCluster],
] as const
const hour = 3_600_000

const inTurns = (limits: Throttle = {}): ReadonlyMap<string, Throttle> =>
  new Map([[functionLimit('mail'), { ...limits, isPerTurn: true }]])

/** Jobs of each value, in this order; their inputs name value and number. */
function jobsOfEach(
  counts: Readonly<Record<string, number>>,
  more: Partial<NewJob> = {},
): NewJob[] {
  return Object.entries(counts).flatMap(([turn, count]) =>
    Array.from({ length: count }, (_none, at) =>
      aJob({ turn, input: Buffer.from(`${turn}${at + 1}`), ...more }),
    ),
  )
}

/** Takes and ends one job after the other. */
async function runAll(store: SteppedStore, max: number, lane = 'mail'): Promise<string[]> {
  const ran: string[] = []
  for (let at = 0; at < max; at += 1) {
    const [job] = await take(store, [lane])
    if (!job) break
    ran.push(...inputsOf([job]))
    await store.steps.finish(lane, [completed(job)])
  }
  return ran
}

describe.skipIf(lacksRedis).each(suites)('jobs that take turns, %s:', (_where, start) => {
  let servers: Servers
  let world: RedisWorld
  const open = async (throttles: ReadonlyMap<string, Throttle>): Promise<RedisWorld> => {
    world = await RedisWorld.open(servers.address, { throttles })
    return world
  }
  beforeAll(async () => {
    servers = await start()
  })
  afterAll(() => servers.stop())
  afterEach(async () => {
    expect(await world.violations()).toEqual([])
    await world.close()
  })

  test('jobs that were scheduled before any other take turns when they are due', async () => {
    const store = await (await open(inTurns())).node()
    const dueAtMs = (await store.nodes.beat()).nowMs + 1_000
    await submitAll(store, 'mail', jobsOfEach({ a: 3, b: 1 }, { dueAtMs }))
    await world.pass(2_000)
    await store.lanes.promote()
    expect(await runAll(store, 9)).toEqual(['a1', 'b1', 'a2', 'a3'])
  })

  test('a tenant of whom many jobs were ended has his next one at once', async () => {
    const store = await (await open(inTurns({ concurrency: 1 }))).node()
    await submitAll(store, 'mail', jobsOfEach({ a: 400, b: 2 }))
    const places = ['high', 'normal', 'low'] as const
    while ((await store.queues.endJobs('mail', places, 100)).length === 100) continue
    await submitAll(store, 'mail', jobsOfEach({ a: 1 }))
    expect(await runAll(store, 9)).toEqual(['a1'])
  })

  test('jobs that wait for their turn count for the bound of their route', async () => {
    const store = await (await open(inTurns({ concurrency: 1 }))).node()
    const bounded = jobsOfEach({ a: 40 }, { admission: { maxWaiting: 5 } })
    const results = await store.steps.submit('mail', bounded)
    expect(results.filter(({ kind }) => kind === 'created')).toHaveLength(5)
    expect((await store.steps.submit('mail', bounded)).map(({ kind }) => kind)).not.toContain(
      'created',
    )
  })

  test('jobs that wait for their turn for too long end, as others do', async () => {
    const store = await (await open(inTurns({ concurrency: 1 }))).node()
    const staleAtMs = (await store.nodes.beat()).nowMs + 60_000
    await submitAll(store, 'mail', jobsOfEach({ a: 3 }, { staleAtMs }))
    await submitAll(store, 'mail', jobsOfEach({ a: 1, b: 1 }))
    await takeOne(store, 'mail')
    await world.pass(61_000)
    expect(namesOf(await store.queues.endStale(['mail'], 9))).toEqual(['mail:2', 'mail:3'])
    expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['b1'])
  })

  test('the oldest job is one that has waited for its turn', async () => {
    const store = await (await open(inTurns({ concurrency: 1 }))).node()
    const { nowMs } = await store.nodes.beat()
    await submitAll(store, 'mail', jobsOfEach({ a: 3 }))
    await world.pass(600_000)
    await submitAll(store, 'mail', jobsOfEach({ b: 1 }))
    const first = await takeOne(store, 'mail')
    const isOld = async (): Promise<void> => {
      const [since] = await store.queues.oldest(['mail'])
      const [counts] = await store.lanes.counts(['mail'], true)
      expect(since).toBeLessThan(nowMs - 500_000)
      expect(counts?.oldestMs).toBeLessThan(nowMs - 500_000)
    }
    await isOld()
    await store.steps.finish('mail', [completed(first)])
    await take(store, ['mail'])
    // The second is in line now, but came long ago.
    await isOld()
  })

  test('a job whose record is gone while it runs blocks its value no longer', async () => {
    const store = await (await open(inTurns({ concurrency: 1 }))).node()
    await submitAll(store, 'mail', jobsOfEach({ a: 2 }, { door: 'faktory', reserveForSeconds: 60 }))
    const { id } = await takeOne(store, 'mail', { by: 'consumer' })
    await world.expire('mail', id)
    await world.pass(61_000)
    expect(await store.jobs.expired(['mail'], 9)).toEqual([])
    await store.lanes.promote()
    expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['a2'])
  })

  test('a rate that a reload raises lets waiting jobs go at once', async () => {
    const store = await (await open(inTurns({ rate: { jobs: 1, perMs: 24 * hour } }))).node()
    await submitAll(store, 'mail', jobsOfEach({ a: 4, b: 3 }))
    expect(await runAll(store, 9)).toEqual(['a1', 'b1'])
    store.configure(inTurns({ rate: { jobs: 3, perMs: 24 * hour } }))
    await world.pass(1_001)
    await store.lanes.promote()
    expect((await runAll(store, 9)).sort()).toEqual(['a2', 'a3', 'b2', 'b3'])
  })

  test.each([
    ['the rate', inTurns()],
    ['the turns', new Map()],
  ])('a reload without %s lets all waiting jobs go', async (_what, throttles) => {
    const store = await (await open(inTurns({ rate: { jobs: 1, perMs: 24 * hour } }))).node()
    await submitAll(store, 'mail', jobsOfEach({ a: 300 }))
    expect(await runAll(store, 9)).toEqual(['a1'])
    store.configure(throttles)
    await world.pass(1_001)
    await store.lanes.promote()
    expect(await runAll(store, 400)).toHaveLength(299)
  })

  test('a store of the former version keeps its waiting jobs and their limits', async () => {
    const keys = new StoreKeys(servers.all.length > 1)
    const store = await (await open(inTurns({ concurrency: 1 }))).node()
    await submitAll(store, 'mail', jobsOfEach({ a: 3, b: 2 }))
    const first = await takeOne(store, 'mail')
    const former = keys.turnWaiting('mail').replace(/:waiting$/, '')
    // A former version had the jobs in line in a hash of another name, and all waiting jobs at one time.
    await world.redis.rename(keys.turnHolders('mail'), former)
    for (const id of await world.redis.zrangebyscore(keys.queue('mail', 'scheduled'), 5e13, '+inf'))
      await world.redis.zadd(keys.queue('mail', 'scheduled'), 1e14, id)
    expect(inputsOf(await take(store, ['mail'], 9))).toEqual(['b1'])
    await store.steps.finish('mail', [completed(first)])
    expect(await runAll(store, 1)).toEqual(['a2'])
    expect(await world.redis.exists(former)).toBe(0)
    const [ran] = await store.jobs.read('mail', [4])
    await store.steps.finish('mail', [completed({ ...ran!, token: ran!.token! })])
    expect((await runAll(store, 9)).sort()).toEqual(['a3', 'b2'])
  })

  test('entries that a former version left do not keep a tenant from his next job', async () => {
    const keys = new StoreKeys(servers.all.length > 1)
    const store = await (await open(inTurns({ concurrency: 1 }))).node()
    await submitAll(store, 'mail', jobsOfEach({ a: 1 }))
    const order = '50000000000000000'
    const left = Array.from({ length: 3_000 }, (_none, at) => [0, `a\x00${order}\x00${at + 100}`])
    await world.redis.zadd(keys.turnWaiting('mail'), ...left.flat())
    await submitAll(store, 'mail', jobsOfEach({ a: 2 }))
    for (let seconds = 0; seconds < 4; seconds += 1) {
      await world.pass(1_001)
      await store.lanes.promote()
    }
    expect(await runAll(store, 9)).toEqual(['a1', 'a1', 'a2'])
    await world.pass(1_001)
    await store.lanes.promote()
  })

  test('functions whose names end like keys of turns do not meet', async () => {
    const lanes = ['m', 'm:waiting', 'm:running', 'm:rate:a']
    const limit: Throttle = { isPerTurn: true, concurrency: 1, rate: { jobs: 9, perMs: hour } }
    const store = await (
      await open(new Map(lanes.map((lane) => [functionLimit(lane), limit])))
    ).node()
    for (const lane of lanes) await submitAll(store, lane, jobsOfEach({ a: 2, 'a:rate:a': 1 }))
    for (const lane of lanes)
      expect(await runAll(store, 9, lane)).toEqual(['a1', 'a:rate:a1', 'a2'])
  })

  test('nothing of turns is left when a lane is forgotten', async () => {
    const store = await (await open(inTurns({ concurrency: 1 }))).node()
    await submitAll(store, 'mail', jobsOfEach({ a: 2 }))
    await runAll(store, 9)
    await store.lanes.giveBack(['mail'], { unusedMs: 0, emptiedMs: 0, keptMs: 0 })
    const keys = new StoreKeys(servers.all.length > 1)
    for (const key of ['turnHolders', 'turnWaiting', 'turnRunning', 'turnDue'] as const)
      expect(await world.redis.exists(keys[key]('mail'))).toBe(0)
  })

  test.each([
    ['a value', inTurns({ rate: { jobs: 2, perMs: 60_000 } })],
    ['a function', new Map([[functionLimit('mail'), { rate: { jobs: 2, perMs: 60_000 } }]])],
    ['a queue', new Map([['default', { rate: { jobs: 2, perMs: 60_000 } }]])],
  ])(
    'the rate of %s does not wait for a clock that was set back an hour',
    async (_of, throttles) => {
      const store = await (await open(throttles)).node()
      await submitAll(store, 'mail', jobsOfEach({ a: 5 }))
      expect(await runAll(store, 9)).toEqual(['a1', 'a2'])
      await world.pass(-hour)
      // The next look at the lane.
      await store.lanes.heal(['mail'])
      await world.pass(1_001)
      await store.lanes.promote()
      expect(await runAll(store, 9)).toEqual(['a3', 'a4'])
    },
  )

  test('a slot that times out does not wait for a clock that was set back an hour', async () => {
    const timed = new Map([['default', { concurrency: 1, timeoutMs: 60_000 }]])
    const store = await (await open(timed)).node()
    await submitAll(store, 'mail', jobsOfEach({ a: 2 }))
    await take(store, ['mail'])
    await world.pass(-hour)
    expect(await take(store, ['mail'])).toEqual([])
    await world.pass(61_000)
    expect(await take(store, ['mail'])).toHaveLength(1)
  })

  test('a rate counts the jobs that were handed out, not those that a claim asked for', async () => {
    const rate = { jobs: 2, perMs: 60_000 }
    const store = await (await open(new Map([[functionLimit('mail'), { rate }]]))).node()
    await submitAll(store, 'mail', jobsOfEach({ a: 1 }))
    expect(await take(store, ['mail'], 9)).toHaveLength(1)
    await submitAll(store, 'mail', jobsOfEach({ a: 2 }))
    expect(await take(store, ['mail'], 9)).toHaveLength(1)
  })
})
