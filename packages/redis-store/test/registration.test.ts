import { LaneNames, maxLanes, noStep, soleAnswer, type NewJob } from '@crossgear/core-scheduler'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, describe, expect, test } from 'vitest'
import type { RedisStore } from '../src/index.ts'
import { connect } from '../src/connection/connection.ts'
import { RedisContext } from '../src/connection/redis-context.ts'
import { registerInCluster, withdrawLane } from '../src/lanes/registration.ts'
import type { RedisWorld } from './support/redis-world.ts'
import { aCluster, eachInNewWorld, oneServer } from './support/servers.ts'

const job: NewJob = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false }
const atOnce = { unusedMs: 0, emptiedMs: 0, keptMs: 0 }

async function submit(store: RedisStore, lane = 'mail', jobs: readonly NewJob[] = [job]) {
  const submissions = [{ lane, jobs, places: [...jobs.keys()] }]
  return soleAnswer((await store.steps.step({ ...noStep, submissions })).submissions)
}

describe.skipIf(lacksRedis)('the registry of lanes', () => {
  let world: RedisWorld
  let store: RedisStore
  eachInNewWorld(oneServer, async (opened) => {
    world = opened
    store = await world.node()
  })

  test('keeps the number of a lane that a former version registered', async () => {
    const number = await store.lanes.register('mail')
    await world.server.hdel('xg:lane:mail', 'number')
    expect(await submit(store)).toMatchObject({ laneNumber: number, results: [{ id: 1 }] })
    expect(await world.server.hget('xg:lane:mail', 'number')).toBe(String(number))
  })

  test('refuses one lane too many, in a step with others too', async () => {
    const known = Array.from({ length: maxLanes - 1 }, (_none, at) => [`f${at}`, at + 1])
    for (let at = 0; at < known.length; at += 5_000) {
      await world.server.hset('xg:lanes', ...known.slice(at, at + 5_000).flat())
    }
    await store.lanes.register('mail')
    const long = { ...job, input: Buffer.alloc(10_000) }
    const lanes = ['new', 'mail', 'f7']
    const submissions = lanes.map((lane) => ({ lane, jobs: [long], places: [0] }))
    const answer = await store.steps.step({ ...noStep, submissions })
    expect(answer.submissions).toMatchObject([
      { code: 'TOO_MANY_LANES' },
      { results: [{ id: 1 }] },
      { results: [{ id: 1 }] },
    ])
    expect(await world.server.keys('xg:input:*')).toEqual([])
    await expect(store.lanes.register('new')).rejects.toMatchObject({ code: 'TOO_MANY_LANES' })
    // A look at each of them for what is wrong would take most of the time.
    for (let at = 0; at < known.length; at += 5_000) {
      const names = known.slice(at, at + 5_000).map(([name]) => String(name))
      await world.server.hdel('xg:lanes', ...names.filter((name) => name !== 'f7'))
    }
  })

  test('remembers so many former lanes: first those go whose time ends first', async () => {
    for (const lane of ['first', 'last']) {
      await store.lanes.register(lane)
      await store.lanes.open(lane)
      await store.lanes.giveBack([lane], atOnce)
    }
    const others = Array.from({ length: maxLanes - 2 }, (_none, at) => [9e15, `f${at}`])
    for (let at = 0; at < others.length; at += 5_000) {
      await world.server.zadd('xg:former', ...others.slice(at, at + 5_000).flat())
    }
    await store.lanes.register('more')
    await store.lanes.open('more')
    await store.lanes.giveBack(['more'], atOnce)
    const left = ['first', 'last', 'more'].map((lane) => `xg:lane:${lane}`)
    expect(await Promise.all(left.map((key) => world.server.exists(key)))).toEqual([0, 1, 1])
    expect(await world.server.zcard('xg:former')).toBe(maxLanes)
    await store.lanes.register('last')
    expect(await world.server.zscore('xg:former', 'last')).toBeNull()
    expect(await world.server.ttl('xg:lane:last')).toBe(-1)
  })

  test('has former lanes in a backup: whether they were open is not lost', async () => {
    await store.lanes.register('mail')
    await store.lanes.open('mail')
    await store.lanes.giveBack(['mail'], atOnce)
    expect(await store.backup.isEmpty()).toBe(false)
    const settings = []
    for await (const setting of store.backup.settings()) settings.push(setting)
    expect(settings).toEqual([{ kind: 'lane', lane: 'mail', fields: { open: '1' } }])
  })

  test('remembers nothing of a lane that says nothing', async () => {
    await store.lanes.register('mail')
    await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 1 }]]))
    await store.lanes.giveBack(['mail'], atOnce)
    expect(await world.server.keys('*mail*')).toEqual([])
    expect(await world.server.exists('xg:lanes', 'xg:former', 'xg:totals')).toBe(0)
  })
})

describe.skipIf(lacksRedis)('the registry of lanes in a cluster', () => {
  let world: RedisWorld
  let store: RedisStore
  let context: RedisContext
  eachInNewWorld(aCluster, async (opened, { address }) => {
    world = opened
    store = await world.node()
    context = new RedisContext(address, new LaneNames(), 0)
    await connect(context.redis)
  })
  afterEach(() => context.redis.disconnect())

  /** As by a node that dies, or waits, after the first half of its work. */
  async function halfDrop(): Promise<Buffer[]> {
    const number = await store.lanes.register('mail')
    const args = ['mail', context.node, 9, number, '']
    const [, ...gone] = (await context.run('clear-lane', [context.keys.busy('mail')], args)) as [
      Buffer[],
      ...Buffer[],
    ]
    return gone
  }

  test('gives a half dropped lane another number, which the rest of the drop leaves', async () => {
    const gone = await halfDrop()
    const { laneNumber = 0, results } = await submit(store)
    expect(laneNumber).toBeGreaterThan(Number(gone[0]))
    expect(results).toEqual([{ kind: 'created', id: 1 }])
    await withdrawLane(context, 'mail', gone)
    expect(await store.lanes.all()).toEqual(new Map([['mail', laneNumber]]))
  })

  test('loses a half dropped lane with the next look for unused ones', async () => {
    await halfDrop()
    expect([...(await store.lanes.all()).keys()]).toEqual(['mail'])
    await store.lanes.giveBack(['mail'], atOnce)
    expect(await store.lanes.all()).toEqual(new Map())
    expect(await submit(store)).toMatchObject({ results: [{ kind: 'created', id: 1 }] })
  })

  test('refuses a number that is gone when a slow node sets it', async () => {
    const [number] = await halfDrop()
    const late = await context.run('number-lane', [context.keys.meta('mail')], [String(number)])
    expect(late).toBe(0)
    expect(await registerInCluster(context, 'mail')).toBeGreaterThan(Number(number))
  })

  test('gives a lane another number where a lost write has left the registry and its counter behind', async () => {
    const [number] = await halfDrop()
    await world.redis.hset(context.keys.lanes, 'mail', 1)
    await world.redis.hset(context.keys.meta('mail'), 'dropped', Number(number) + 5)
    expect(await registerInCluster(context, 'mail')).toBe(Number(number) + 6)
  })

  test('keeps the number of a lane that a former version registered', async () => {
    const number = await store.lanes.register('mail')
    await world.redis.hdel('xg:lane:{mail}', 'number')
    expect(await submit(store)).toMatchObject({ laneNumber: number, results: [{ id: 1 }] })
  })
})
