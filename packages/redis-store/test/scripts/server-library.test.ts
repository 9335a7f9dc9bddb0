import type { Redis } from 'ioredis'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { beforeEach, describe, expect, test } from 'vitest'
import { RedisStore } from '../../src/index.ts'
import { libraryOf } from '../../src/scripts/library.ts'
import { callsIn } from '../support/calls-in.ts'

const job = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false } as const

describe.skipIf(lacksRedis)('the function library of a server', () => {
  let server: RedisServer
  let redis: Redis
  let stores: RedisStore[]
  withRedisServer((started) => {
    server = started
    redis = server.connect()
  })

  beforeEach(async () => {
    stores = []
    await redis.flushall()
    await redis.call('FUNCTION', 'FLUSH')
    return async () => {
      await redis.call('ACL', 'SETUSER', 'default', '+@all')
      for (const store of stores) await store.close()
    }
  })

  async function open(database = 0): Promise<RedisStore> {
    const store = new RedisStore({ path: server.path, db: database })
    stores.push(store)
    await store.open()
    return store
  }

  const load = (name: string): Promise<unknown> =>
    redis.call(
      'FUNCTION',
      'LOAD',
      `#!lua name=${name}\nredis.register_function('${name}_one', function() end)`,
    )

  async function libraries(): Promise<string[]> {
    const reply = (await redis.call('FUNCTION', 'LIST')) as unknown[][]
    return reply.map((fields) => String(fields[1])).sort()
  }

  const current = (database = 0): string => libraryOf(database).name

  test('is one, by which all steps are called', async () => {
    const store = await open()
    await redis.config('RESETSTAT')
    expect(await store.steps.submit('mail', [job])).toEqual([{ kind: 'created', id: 1 }])
    await store.lanes.counts(['mail'], true)
    expect(await libraries()).toEqual([current()])
    expect([await callsIn(redis, 'eval', 'evalsha'), await callsIn(redis, 'fcall')]).toEqual([0, 2])
  })

  test('is loaded again after the server lost it, and each call of that moment runs once', async () => {
    const store = await open()
    await redis.call('FUNCTION', 'FLUSH')
    const lanes = ['a', 'b', 'c', 'd']
    const all = await Promise.all(lanes.map((lane) => store.steps.submit(lane, [job, job])))
    expect(all.flat().map((result) => 'id' in result && result.id)).toEqual([
      1, 2, 1, 2, 1, 2, 1, 2,
    ])
    expect(await libraries()).toEqual([current()])
  })

  test('of another version stays until its last node is forgotten', async () => {
    const used = 'crossgear_0_aaaaaaaaaaaa'
    for (const name of [used, 'crossgear_0_bbbbbbbbbbbb']) await load(name)
    await redis.hset('xg:libraries', 'other', used)
    const store = await open()
    await store.nodes.beat()
    expect(await libraries()).toEqual([current(), used].sort())
    expect(await redis.hgetall('xg:libraries')).toEqual({ other: used, [store.node]: current() })
    await store.nodes.declareDead('other')
    await store.nodes.endReclaim('other', true)
    await open()
    expect(await libraries()).toEqual([current()])
  })

  test('that nobody uses is removed by each of several gateways that start at once', async () => {
    for (let at = 0; at < 20; at += 1) await load(`crossgear_0_${String(at).padStart(12, '0')}`)
    await Promise.all([open(), open(), open()])
    expect(await libraries()).toEqual([current()])
  })

  test('of former versions, which had two, is removed', async () => {
    await load('crossgear_step_0123456789ab')
    await open()
    expect(await libraries()).toEqual([current()])
  })

  test('leaves those of other programs and of other databases alone', async () => {
    await load('theirs')
    await open(1)
    await open()
    expect(await libraries()).toEqual([current(), current(1), 'theirs'].sort())
  })

  test.each([['-fcall'], ['-function']])('is told of where the user has %s', async (rule) => {
    if (rule === '-fcall') await open()
    await redis.call('ACL', 'SETUSER', 'default', rule)
    const opened = open()
    await expect(opened).rejects.toThrow(
      /^NOPERM .*: Crossgear needs Redis 7 or Valkey, and a user that may use FUNCTION and FCALL$/,
    )
  })

  test('that a full server has is used there', async () => {
    const store = await open()
    await store.steps.submit('mail', [job])
    await redis.set('filler', Buffer.alloc(1_000_000))
    await redis.config('SET', 'maxmemory', '1mb')
    const other = await open()
    const claim = { by: 'named', groups: [{ lanes: ['mail'] }], max: 1 } as const
    expect((await other.steps.claim(claim)).map(({ id }) => id)).toEqual([1])
    await redis.config('SET', 'maxmemory', '0')
  })

  test('that is absent from a full server is told of, with what to do', async () => {
    await redis.set('filler', Buffer.alloc(1_000_000))
    await redis.config('SET', 'maxmemory', '1mb')
    const opened = open()
    await expect(opened).rejects.toThrow(
      'the store is full and lacks the functions of this version: raise maxmemory',
    )
    await redis.config('SET', 'maxmemory', '0')
  })
})
