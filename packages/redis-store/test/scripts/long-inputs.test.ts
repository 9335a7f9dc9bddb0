import { type LaneArrivals, type NewJob, StoreError } from '@crossgear/core-scheduler'
import type { SteppedStore } from '../contract/store-world.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import type { RedisWorld } from '../support/redis-world.ts'
import { callsIn } from '../support/calls-in.ts'
import { eachInNewWorld, oneServer } from '../support/servers.ts'

const bytes = (size: number, first = 0): Buffer =>
  Buffer.from(Array.from({ length: size }, (_none, at) => (at * 7 + first) % 256))
const job = (input: Buffer, unique?: string): NewJob => ({
  input,
  door: 'gearman',
  level: 5,
  foreground: false,
  ...(unique !== undefined && { unique: Buffer.from(unique) }),
})
const long = bytes(20_000)

describe.skipIf(lacksRedis)('a long input, with redis-server', () => {
  let world: RedisWorld
  const begin = async (opened: RedisWorld): Promise<void> => {
    world = opened
    await world.server.call('ACL', 'SETUSER', 'default', '+@all')
    await world.server.config('SET', 'maxmemory', '0')
  }
  eachInNewWorld(oneServer, begin, { mayBreak: true })

  async function openWatched(): Promise<SteppedStore> {
    const store = await world.node()
    await world.server.config('RESETSTAT')
    return store
  }

  const leftOver = (): Promise<string[]> => world.server.keys('xg:input:*')

  test('does not pass through Lua, and is stored unchanged', async () => {
    const store = await openWatched()
    const inputs = [long, bytes(100), bytes(8192, 3), Buffer.alloc(0), bytes(300_000, 5)]
    await store.steps.submit(
      'mail',
      inputs.map((input) => job(input)),
    )
    expect([
      await callsIn(world.server, 'exec'),
      await callsIn(world.server, 'rename'),
      await callsIn(world.server, 'fcall'),
    ]).toEqual([1, 3, 1])
    const other = await world.node()
    const taken = await other.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 5 })
    expect(taken.map(({ input }) => Buffer.from(input).equals(inputs.shift() ?? long))).toEqual(
      Array(5).fill(true),
    )
    expect(await world.violations()).toEqual([])
    expect(await leftOver()).toEqual([])
  })

  test('of a job that joins another leaves nothing behind', async () => {
    const store = await openWatched()
    await store.steps.submit('mail', [job(long, 'u')])
    const [joined] = await store.steps.submit('mail', [job(bytes(9_000, 1), 'u')])
    expect(joined).toEqual({ kind: 'joined', id: 1 })
    expect(await leftOver()).toEqual([])
  })

  test('of a job that finds its queue full leaves nothing behind', async () => {
    const store = await openWatched()
    await world.limit('mail', { normal: 1 })
    const results = await store.steps.submit('mail', [job(long), job(bytes(9_000, 1)), job(long)])
    expect(results.map(({ kind }) => kind)).toEqual(['created', 'full', 'full'])
    expect(await leftOver()).toEqual([])
  })

  test('of a lane that is refused leaves nothing behind, and other lanes keep theirs', async () => {
    const store = await openWatched()
    await world.server.set('queue:spoilt:normal', 'no list')
    const lane = (name: string): LaneArrivals => ({ lane: name, jobs: [job(long)], places: [0] })
    const step = { reports: [], outcomes: [], claims: [] }
    const { submissions } = await store.steps.step({
      ...step,
      submissions: [lane('spoilt'), lane('mail')],
    })
    expect(submissions[0]).toBeInstanceOf(StoreError)
    expect(submissions[1]).toMatchObject({ results: [{ kind: 'created', id: 1 }] })
    expect(await world.server.hgetBuffer('job:mail:1', 'input')).toEqual(long)
    expect(await leftOver()).toEqual([])
  })

  test('is stored where the server has lost its functions', async () => {
    const store = await openWatched()
    await world.server.call('FUNCTION', 'FLUSH')
    expect(await store.steps.submit('mail', [job(long)])).toEqual([{ kind: 'created', id: 1 }])
    expect(await world.server.hgetBuffer('job:mail:1', 'input')).toEqual(long)
    expect(await leftOver()).toEqual([])
  })

  test('that a refused call left behind goes with its node', async () => {
    const [dies, leaves, other] = [await openWatched(), await openWatched(), await openWatched()]
    await world.server.call('ACL', 'SETUSER', 'default', '-function|load')
    await world.server.call('FUNCTION', 'FLUSH')
    for (const store of [dies, leaves]) {
      await expect(store.steps.submit('mail', [job(long), job(long)])).rejects.toThrow()
    }
    expect(await leftOver()).toHaveLength(4)
    await world.server.call('ACL', 'SETUSER', 'default', '+function|load')
    await leaves.nodes.leave([])
    expect(await leftOver()).toHaveLength(2)
    await other.nodes.declareDead(dies.node)
    await other.nodes.endReclaim(dies.node, true)
    expect(await leftOver()).toEqual([])
  })

  test('is stored where a user may not use transactions', async () => {
    await world.server.call('ACL', 'SETUSER', 'default', '-multi', '-exec')
    const store = await openWatched()
    expect(await store.steps.submit('mail', [job(long)])).toEqual([{ kind: 'created', id: 1 }])
    expect(await world.server.hgetBuffer('job:mail:1', 'input')).toEqual(long)
    expect(await callsIn(world.server, 'rename')).toBe(0)
  })

  test('is refused by a full server, which keeps nothing of it', async () => {
    const store = await openWatched()
    await world.server.config('SET', 'maxmemory', '1')
    await expect(store.steps.submit('mail', [job(long)])).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringMatching(/^OOM/) as string,
    })
    await world.server.config('SET', 'maxmemory', '0')
    expect(await leftOver()).toEqual([])
    expect(await world.server.exists('job:mail:1')).toBe(0)
  })
})
