import type { Redis } from 'ioredis'
import { beforeEach, describe, expect, test } from 'vitest'
import { callsIn } from '../support/calls-in.ts'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { functionOf } from '../../src/scripts/function-text.ts'
import { RedisStore } from '../../src/index.ts'

const job = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false } as const

test('a function is named by its text and whether a full server refuses it', () => {
  const { name, library } = functionOf('step', { database: 0, grows: true })
  expect(name).toMatch(/^crossgear_step_[0-9a-f]{12}$/)
  expect(library.startsWith(`#!lua name=${name}\n`)).toBe(true)
  const others = [
    functionOf('step', { database: 1, grows: true }),
    functionOf('step', { database: 0, grows: false }),
  ]
  expect(new Set([name, ...others.map((other) => other.name)]).size).toBe(3)
})

test("a script's arguments are read in each call", () => {
  const { library } = functionOf('step', { database: 0, grows: true })
  const begin = library.slice(library.indexOf('local function begin()'))
  expect(begin).toContain('\nopen, close = ARGV[1], ARGV[2]\n')
  expect(begin).toContain('\nownLanes = nil\n')
  expect(begin).toContain('\nkeptAt = {}\n')
  expect(begin).not.toMatch(/^(local )?bands = /m)
  expect(begin).not.toMatch(/^local function \w+Key\(/m)
})

describe.skipIf(lacksRedis)('a server that keeps functions', () => {
  let server: RedisServer
  let redis: Redis
  let stores: RedisStore[]
  withRedisServer((started) => {
    server = started
    redis = server.connect()
  })
  test.each([true, false])(
    'takes the text of the step (%s): it has room for its locals',
    async (grows) => {
      const { library, name } = functionOf('step', { database: 0, grows })
      expect(await redis.call('FUNCTION', 'LOAD', 'REPLACE', library)).toBe(name)
    },
  )

  beforeEach(async () => {
    stores = []
    await redis.flushall()
    await redis.call('FUNCTION', 'FLUSH')
    await redis.call('ACL', 'SETUSER', 'default', '+@all')
    return async () => {
      for (const store of stores) await store.close()
    }
  })

  async function open(): Promise<RedisStore> {
    const store = new RedisStore({ path: server.path })
    stores.push(store)
    await store.open()
    return store
  }

  const libraries = async (): Promise<number> =>
    ((await redis.call('FUNCTION', 'LIST')) as unknown[]).length

  test('claims jobs with them', async () => {
    const store = await open()
    await redis.config('RESETSTAT')
    expect(await store.steps.submit('mail', [job])).toEqual([{ kind: 'created', id: 1 }])
    expect([await callsIn(redis, 'fcall'), await callsIn(redis, 'evalsha')]).toEqual([1, 0])
  })

  test('gets them again after it lost them', async () => {
    const store = await open()
    await redis.call('FUNCTION', 'FLUSH')
    const all = await Promise.all([1, 2, 3].map(() => store.steps.submit('mail', [job])))
    expect(all.flat().map((result) => 'id' in result && result.id)).toEqual([1, 2, 3])
  })

  test('keeps no old ones after a new version', async () => {
    await redis.call(
      'FUNCTION',
      'LOAD',
      "#!lua name=crossgear_step_0\nredis.register_function('crossgear_step_0', function() end)",
    )
    await open()
    expect(await libraries()).toBe(2)
  })

  test('does not touch functions of other programs', async () => {
    await redis.call(
      'FUNCTION',
      'LOAD',
      "#!lua name=theirs\nredis.register_function('theirs', function() end)",
    )
    await open()
    expect(await libraries()).toBe(3)
  })

  test('claims jobs with scripts if its user may not load functions', async () => {
    await redis.call('ACL', 'SETUSER', 'default', '-function', '-fcall')
    const store = await open()
    expect(await store.steps.submit('mail', [job])).toEqual([{ kind: 'created', id: 1 }])
  })
})
