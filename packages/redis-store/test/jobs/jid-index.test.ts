import { allCompleted, completed, take, takeOne } from '../contract/kit.ts'
import type { NewJob } from '@crossgear/core-scheduler'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { checkInvariants } from '../../src/invariants/invariants.ts'
import { StoreKeys } from '../../src/index.ts'
import type { RedisWorld } from '../support/redis-world.ts'
import { callsIn } from '../support/calls-in.ts'
import { aCluster, eachInNewWorld, oneServer } from '../support/servers.ts'

const bytes = (text: string): Buffer => Buffer.from(text)
const plain: NewJob = { input: bytes('in'), door: 'gearman', level: 5, foreground: false }
const jobOf = (jid: string, more: Partial<NewJob> = {}): NewJob => ({
  ...plain,
  door: 'faktory',
  jid,
  ...more,
})

describe.skipIf(lacksRedis)('with redis-server, a look-up in a store of 2,000 lanes', () => {
  let world: RedisWorld
  const lanes = Array.from({ length: 2_000 }, (_none, at) => `type-${at}`)
  eachInNewWorld(oneServer, (opened) => (world = opened))

  test('by jid asks one question, however many lanes there are', async () => {
    const store = await world.node()
    await Promise.all(lanes.map((lane) => store.lanes.register(lane)))
    await store.steps.submit('type-1999', [jobOf('known-0001', { retentionSeconds: 60 })])
    await world.server.config('RESETSTAT')
    expect(await store.jobs.findJid('known-0001')).toEqual({ lane: 'type-1999', id: 1 })
    for (let at = 0; at < 500; at += 1)
      expect(await store.jobs.findJid(`unknown-${at}`)).toBeUndefined()
    expect(await callsIn(world.server, 'hget', 'hmget', 'hgetall', 'fcall', 'get')).toBe(501)
    await store.steps.finish('type-1999', [completed(await takeOne(store, 'type-1999'))])
    await world.server.config('RESETSTAT')
    expect(await store.queues.findFinished('known-0001')).toEqual({ lane: 'type-1999', id: 1 })
    expect(await store.queues.findFinished('unknown-1')).toBeUndefined()
    expect(await callsIn(world.server, 'hget', 'hmget', 'hgetall', 'fcall', 'get')).toBe(2)
  })

  test('by unique id reads them in short pieces', async () => {
    const store = await world.node()
    const unique = bytes('one of a kind')
    for (const lane of ['type-7', 'type-1999']) {
      await store.steps.submit(lane, [{ ...plain, unique }])
    }
    await world.server.config('RESETSTAT')
    const found = [
      { lane: 'type-7', id: 1 },
      { lane: 'type-1999', id: 1 },
    ]
    expect(await store.jobs.findUniques([unique, bytes('another')], lanes)).toEqual([found, []])
    expect(await callsIn(world.server, 'fcall')).toBe(Math.ceil(lanes.length / 64))
    expect(await callsIn(world.server, 'hget', 'hmget')).toBe(lanes.length)
  })

  test('finds the jobs of an older version, whose jids were indexed by lane', async () => {
    const store = await world.node()
    const [redis, keys] = [world.server, new StoreKeys()]
    for (const lane of ['mail', 'sms']) {
      await store.lanes.register(lane)
      const jobs = Array.from({ length: 2_500 }, (_none, at) => jobOf(`${lane}-${at}`))
      await store.steps.submit(lane, jobs)
      const ids = jobs.flatMap(({ jid = '' }, at) => [jid, at + 1])
      await redis.hset(keys.jid(lane), ...ids)
    }
    await redis.hset(keys.jid('sms'), 'of a job that is gone', 9_999)
    await redis.del(keys.jids())
    const upgraded = await world.node()
    expect(await upgraded.jobs.findJid('mail-0')).toEqual({ lane: 'mail', id: 1 })
    expect(await upgraded.jobs.findJid('sms-2499')).toEqual({ lane: 'sms', id: 2_500 })
    expect(await redis.hlen(keys.jids())).toBe(5_000)
    expect(await redis.exists(keys.jid('mail'), keys.jid('sms'))).toBe(0)
  })
})

describe.skipIf(lacksRedis)('in a cluster the index of jids', () => {
  let world: RedisWorld
  const keys = new StoreKeys(true)
  eachInNewWorld(aCluster, (opened) => (world = opened), { mayBreak: true })

  test('finds jobs of an older version, and lost entries, again', async () => {
    const store = await world.node()
    await store.lanes.register('mail')
    const jids = Array.from({ length: 40 }, (_none, at) => `jid-${at}-00`)
    await store.steps.submit(
      'mail',
      jids.map((jid) => jobOf(jid)),
    )
    const found = async (by = store): Promise<number> => {
      const refs = await Promise.all(jids.map((jid) => by.jobs.findJid(jid)))
      return refs.filter((ref) => ref !== undefined).length
    }
    expect(await found()).toBe(40)
    for (const key of keys.allJids()) await world.redis.del(key)
    await world.redis.del(keys.indexed)
    expect(await found(await world.node())).toBe(40)
    for (const key of keys.allJids()) await world.redis.del(key)
    expect(await found()).toBe(0)
    for (let next: string | undefined; ;) {
      ;({ next } = await store.native.sweep('mail', next))
      if (next === undefined) break
    }
    expect(await found()).toBe(40)
    expect(await checkInvariants(world.redis)).toEqual([])
  })

  test('is completed after a node died', async () => {
    const store = await world.node()
    await store.steps.submit('mail', [
      jobOf('gone-0001'),
      jobOf('kept-0001', { retentionSeconds: 60 }),
    ])
    await store.steps.finish('mail', allCompleted(await take(store, ['mail'], 2)))
    // As if the lane's own step had been the last that the node did.
    for (const [at, jid] of ['gone-0001', 'kept-0001'].entries()) {
      for (const key of keys.allJids()) await world.redis.hset(key, jid, `${at + 1} mail`)
      await world.redis.sadd(keys.batchOutbox('mail'), `jid ${at === 0 ? 0 : 60} ${at + 1} ${jid}`)
    }
    await world.redis.del(keys.ended('kept-0001'))
    await store.lanes.heal(['mail'])
    expect(await store.jobs.findJid('gone-0001')).toBeUndefined()
    expect(await store.queues.findFinished('gone-0001')).toBeUndefined()
    expect(await store.queues.findFinished('kept-0001')).toEqual({ lane: 'mail', id: 2 })
    for (let next: string | undefined; ;) {
      ;({ next } = await store.native.sweepJids(next))
      if (next === undefined) break
    }
    for (const key of keys.allJids())
      expect(await world.redis.hkeys(key)).not.toContain('gone-0001')
  })
})
