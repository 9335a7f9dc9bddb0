import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RedisStore, type SchemaNews, type SchemaStep } from '../../src/index.ts'

describe.skipIf(lacksRedis)('the version of the structures', () => {
  let server: RedisServer
  const stores: RedisStore[] = []
  withRedisServer((started) => (server = started))
  beforeEach(() => server.ask('FLUSHALL'))
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close()
  })

  /** A node that knows as many steps, with what it hears of the version. */
  function node(schemaSteps: readonly SchemaStep[] = []) {
    const news: SchemaNews[] = []
    const onSchema = (item: SchemaNews): void => void news.push(item)
    const store = new RedisStore({ path: server.path }, { schemaSteps, onSchema })
    stores.push(store)
    return { store, news }
  }

  const version = () => server.ask('GET', 'xg:schema')
  const lanes = () => server.ask('HLEN', 'xg:lanes')
  /** A conversion that anybody can see. */
  const convert: SchemaStep = async ({ redis }) => {
    await redis.set('converted', '1')
  }

  test('is written by the first node, and is 1 where older gateways wrote none', async () => {
    const { store } = node()
    await store.open()
    expect(await version()).toBe('null')
    await store.nodes.beat()
    expect(await version()).toBe('1')
    await server.ask('DEL', 'xg:schema')
    await store.nodes.beat()
    expect(await version()).toBe('1')
  })

  test('that is newer is refused before anything is written', async () => {
    await server.ask('SET', 'xg:schema', '2')
    const refusal = /its structures are of version 2 and this gateway knows version 1/
    await expect(node().store.open()).rejects.toThrow(refusal)
    expect(await server.ask('DBSIZE')).toBe('1')
  })

  test('is raised once no older node is left, and not while one still runs', async () => {
    const [older, newer] = [node(), node([convert])]
    await older.store.open()
    await older.store.nodes.beat()
    await newer.store.open()
    await newer.store.nodes.beat()
    await newer.store.lanes.register('mail')
    await older.store.lanes.register('sms')
    expect([await version(), await server.ask('EXISTS', 'converted')]).toEqual(['1', '0'])
    await older.store.nodes.leave(['mail', 'sms'])
    await newer.store.nodes.beat()
    await expect.poll(version).toBe('2')
    expect(await server.ask('EXISTS', 'converted')).toBe('1')
    expect(newer.news).toEqual([{ kind: 'taken', version: 2 }])
    await expect(node().store.open()).rejects.toThrow('version 2')
    const again = node([convert])
    await again.store.open()
    await again.store.nodes.beat()
    expect(again.news).toEqual([])
  })

  test('is not raised past an older node that came during the conversion', async () => {
    const older = node()
    const slow: SchemaStep = async () => {
      await older.store.open()
      await older.store.nodes.beat()
    }
    const newer = node([slow])
    await newer.store.open()
    await newer.store.nodes.beat()
    await expect.poll(() => server.ask('ZCARD', 'xg:nodes')).toBe('2')
    await newer.store.nodes.beat()
    expect([await version(), newer.news]).toEqual(['1', []])
  })

  test('is raised step by step, and again after a step that failed', async () => {
    let tries = 0
    const second: SchemaStep = () => {
      tries += 1
      return tries === 1 ? Promise.reject(new Error('cut off')) : Promise.resolve()
    }
    const { store, news } = node([convert, second])
    await store.open()
    await store.nodes.beat()
    await expect.poll(() => news.map(({ kind }) => kind)).toEqual(['taken', 'failed'])
    expect(await version()).toBe('2')
    await store.nodes.beat()
    await expect.poll(version).toBe('3')
    expect(tries).toBe(2)
  })

  test('stops a running older node with its next heartbeat', async () => {
    const { store, news } = node()
    await store.open()
    await store.nodes.beat()
    await server.ask('SET', 'xg:schema', '2')
    await store.nodes.beat()
    await store.nodes.beat().catch(() => undefined)
    expect(news.map(({ kind }) => kind)).toEqual(['newer'])
    await expect(store.lanes.register('mail')).rejects.toThrow('version 2')
    expect(await lanes()).toBe('0')
  })
})
