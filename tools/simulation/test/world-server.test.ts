import { RedisStore } from '@crossgear/redis-store'
import { lacksCompiler } from '@crossgear/tools/preload-library'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WorldServer } from '../world/world-server.ts'

const lacking = lacksRedis || lacksCompiler
const atMs = 1_700_000_000_000

describe.skipIf(lacking)(`the server of a world${lacking && ` (lacks ${lacking})`}`, () => {
  let server: WorldServer
  beforeAll(async () => {
    server = await WorldServer.start()
  })
  afterAll(() => server.stop())

  const ask = (command: string, ...words: string[]): Promise<string> =>
    server.redis.ask(command, ...words)

  test('has the date that it is given, to the microsecond, in scripts, too', async () => {
    server.setDate(atMs + 0.25)
    expect(await ask('TIME')).toBe('1700000000,250')
    expect(await ask('EVAL', "return redis.call('TIME')", '0')).toBe('1700000000,250')
    server.setDate(atMs - 5_000)
    expect(await ask('TIME')).toBe('1699999995,0')
  })

  test('lets keys expire by that date alone', async () => {
    server.setDate(atMs)
    await ask('EVAL', "return redis.call('SET', 'key', 'there', 'PX', 1000)", '0')
    server.setDate(atMs + 999)
    expect(await ask('GET', 'key')).toBe('there')
    expect(await ask('PTTL', 'key')).toBe('1')
    server.setDate(atMs + 1_001)
    expect(await ask('EXISTS', 'key')).toBe('0')
  })

  test('gives its date to nodes, which have names and clocks of their own', async () => {
    server.setDate(atMs)
    const clock = { nowMs: () => 0 }
    const store = new RedisStore({ path: server.redis.path }, { nodeName: 'gateway7', clock })
    await store.open()
    try {
      expect(store.node).toBe('gateway7')
      expect(await store.nodes.beat()).toMatchObject({ nowMs: atMs })
    } finally {
      await store.close()
    }
  })
})
