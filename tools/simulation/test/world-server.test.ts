import { RedisStore } from '@crossgear/redis-store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WorldServer } from '../world/world-server.ts'

const startMs = 1_700_000_000_000

let server: WorldServer
let dateMs = startMs
beforeAll(async () => {
  server = await WorldServer.start()
  server.begin({ nowMs: () => dateMs, passedMs: () => 0 })
})
afterAll(() => server.stop())

const ask = (command: string, ...words: string[]): Promise<unknown> =>
  server.redis.call(command, ...words)

test('the server of a world has the date that it is given, to the microsecond, in scripts, too', async () => {
  dateMs = startMs + 0.25
  expect(await ask('TIME')).toEqual(['1700000000', '250'])
  expect(await ask('EVAL', "return redis.call('TIME')", '0')).toEqual(['1700000000', '250'])
  dateMs = startMs - 5_000
  expect(await ask('TIME')).toEqual(['1699999995', '0'])
})

test('keys expire by that date alone', async () => {
  dateMs = startMs
  await ask('EVAL', "return redis.call('SET', 'key', 'there', 'PX', 1000)", '0')
  dateMs = startMs + 999
  expect(await ask('GET', 'key')).toBe('there')
  expect(await ask('PTTL', 'key')).toBe(1)
  dateMs = startMs + 1_001
  expect(await ask('EXISTS', 'key')).toBe(0)
})

test('nodes get its date, and have names and clocks of their own', async () => {
  dateMs = startMs
  const clock = { nowMs: () => 0 }
  const store = new RedisStore(server.address, { nodeName: 'gateway7', clock })
  await store.open()
  try {
    expect(store.node).toBe('gateway7')
    expect(await store.nodes.beat()).toMatchObject({ nowMs: startMs })
  } finally {
    await store.close()
  }
})

test('after a restart another process has the same data, and connections are there again', async () => {
  await ask('SET', 'key', 'there', 'PX', '60000')
  const idOf = (info: unknown): string | undefined => /master_replid:(\w+)/.exec(String(info))?.[1]
  const id = idOf(await ask('INFO', 'replication'))
  dateMs += 1_000
  await server.restart()
  expect(await ask('GET', 'key')).toBe('there')
  expect(await ask('PTTL', 'key')).toBe(59_000)
  expect(idOf(await ask('INFO', 'replication'))).not.toBe(id)
})
