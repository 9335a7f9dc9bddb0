import type { Redis } from 'ioredis'
import { LaneNames, type Level, type NewJob } from '@crossgear/core-scheduler'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { completed, killed, take } from './contract/kit.ts'
import type { SteppedStore } from './contract/store-world.ts'
import { StoreKeys } from '../src/index.ts'
import { checkInvariants } from '../src/invariants/invariants.ts'
import type { RedisWorld } from './support/redis-world.ts'
import { eachInNewWorld, oneServer } from './support/servers.ts'

const levels: readonly Level[] = [9, 5, 5, 5, 2]
const jobs: readonly NewJob[] = levels.map((level, at) => ({
  input: Buffer.from('in'),
  door: 'faktory',
  level,
  foreground: false,
  unique: Buffer.from(`u${at}`),
  jid: `j${at}`,
}))

/** Damage done to a sound store, and the only finding expected of the checker. */
const plants = [
  ['LPUSH queue:mail:low 99', 'mail: 99 is in low and has no hash'],
  ['ZADD queue:mail:scheduled 4e9 99', 'mail: 99 is in scheduled and has no hash'],
  ['ZADD xg:busy:mail 4e12 99', 'mail: 99 is in busy and has no hash'],
  ['ZADD xg:dead:mail 4e12 99', 'mail: 99 is in dead and has no hash'],
  ['HSET xg:unique:mail gone 99', 'mail: 99 is in the unique index and has no hash'],
  ['HSET xg:jid:mail gone 99', 'mail: 99 is in the jid index and has no hash'],
  ['HSET xg:jids gone "99 sms"', 'sms: 99 is in the index of jids as gone and has no hash'],
  ['HDEL xg:jids j4', 'mail: 5 is not in the index of jids as j4'],
  ['RPOP queue:mail:low', 'mail: idle job 5 is in no place'],
  ['LPUSH queue:mail:high 5', 'mail: idle job 5 is in high and low'],
  ['LPUSH queue:mail:low 5', 'mail: idle job 5 is in low and low'],
  ['HSET job:mail:5 status busy', 'mail: busy job 5 is in low'],
  ['HSET job:mail:5 status success', 'mail: success job 5 is in low'],
  ['HSET job:mail:1 status idle', 'mail: idle job 1 is in busy'],
  ['HDEL job:mail:1 token', 'mail: busy job 1 has no token'],
  ['ZREM xg:busy:mail 1', 'mail: busy job 1 is reserved in no place'],
  ['HSET job:mail:77 input x', 'mail: unknown job 77 has no status'],
  ['HSET xg:lane:mail lv7 3', 'mail: 3 jobs of level 7 among 0 of their band'],
  ['SET count:mail 2', 'mail: counts 2 workers, its nodes have 3'],
  ['SET count:mail many', 'mail: counts many workers, its nodes have 3'],
  ['HSET xg:lane:mail consumers 7', 'mail: counts 7 consumers of 1'],
  ['ZREM xg:ready:default mail', 'mail: has queued jobs and is not in the ready index'],
  ['ZREM xg:due mail', 'mail: its next scheduled job is due before what the due index says'],
  [
    'ZADD xg:due XX 4.1e12 mail',
    'mail: its next scheduled job is due before what the due index says',
  ],
  [
    'ZADD xg:turns:mail:waiting 0 a\x00500000000000000001\x004',
    'mail: 4 has a turn to come and does not wait',
  ],
  ['ZADD queue:mail:scheduled XX 1e14 6', 'mail: 6 waits and has no turn to come'],
  [
    'ZADD xg:turns:mail:running 0 a\x004',
    'mail: 4 counts as running for its value and is not reserved',
  ],
  ['HSET xg:turn-holders:mail a 99', 'mail: 99 has the turn of a and has no hash'],
  ['ZADD xg:turn-due:sms 1 a', 'sms: has turns and is not registered'],
] as const

describe.skipIf(lacksRedis)('the checker of invariants, with redis-server:', () => {
  let world: RedisWorld
  let redis: Redis
  let store: SteppedStore

  /** One job in each place: 1 reserved, 2 dead, 3 done and kept, 4 and 5 queued, 6 scheduled. */
  const begin = async (opened: RedisWorld): Promise<void> => {
    world = opened
    redis = world.server
    store = await world.node()
    await store.lanes.register('mail')
    await store.lanes.setWorkers(new Map([['mail', { named: 2, consumers: 1 }]]))
    await store.lanes.open('mail')
    await store.steps.submit('mail', jobs)
    await store.steps.submit('mail', [{ ...jobs[1]!, unique: Buffer.from('u5'), dueAtMs: 4e12 }])
    const [, second, third] = await take(store, ['mail'], 3)
    await store.steps.finish('mail', [killed(second!), completed(third!)])
  }
  eachInNewWorld(oneServer, begin, { mayBreak: true })

  test('finds nothing in a consistent store', async () => {
    expect(await store.lanes.counts(['mail'])).toMatchObject([
      { normal: 1, low: 1, running: 1, scheduled: 1, dead: 1, workers: 3 },
    ])
    expect(await checkInvariants(redis, { strays: true })).toEqual([])
  })

  test('finds nothing amiss with a result that expires while it reads', async () => {
    await redis.hset('job:mail:77', 'status', 'success')
    const scan = redis.scan.bind(redis) as (...words: unknown[]) => Promise<[string, string[]]>
    const expiring = Object.assign(Object.create(redis) as Redis, {
      scan: async (...words: unknown[]) => {
        const listed = await scan(...words)
        await redis.del('job:mail:77')
        return listed
      },
    })
    expect(await checkInvariants(expiring)).toEqual([])
  })

  test.each(plants)('after %s finds %s, of its lane alone too', async (command, violation) => {
    const [name = '', ...words] = command.match(/"[^"]+"|\S+/g) ?? []
    await redis.call(name, ...words.map((word) => word.replaceAll('"', '')))
    expect(await checkInvariants(redis)).toEqual([violation])
    for (const lane of ['mail', 'sms']) {
      const here = violation.startsWith(`${lane}: `) ? [violation] : []
      expect(await checkInvariants(redis, { only: new Set([lane]) })).toEqual(here)
    }
  })

  test('finds every violation, also in lanes that no gateway named', async () => {
    await redis.lpush('queue:sms@bulk:high', '1')
    await redis.zrem('xg:busy:mail', '1')
    expect(await checkInvariants(redis, { native: true })).toEqual([
      'mail: busy job 1 is reserved in no place',
      'sms@bulk: 1 is in high and has no hash',
    ])
  })

  test('knows which queue is home to a function', async () => {
    const names = new LaneNames(new Map([['mail', 'bulk']]))
    expect(await checkInvariants(redis, { names })).toEqual([
      'mail: has queued jobs and is not in the ready index',
    ])
  })

  test('accepts that the index lacks a lane while it is paused, or its function', async () => {
    await store.lanes.register('sms@bulk')
    await store.steps.submit('sms@bulk', [{ ...jobs[1]!, jid: 'j6' }])
    const lanes = ['sms@bulk', 'fax@bulk']
    const request = { by: 'consumer', access: 'auto', max: 9, paused: new Set(lanes) } as const
    await store.steps.claim({ ...request, groups: [{ queue: 'bulk', lanes }] })
    const missing = ['sms@bulk: has queued jobs and is not in the ready index']
    for (const [name, found] of [
      ['sms', []],
      ['sms@bulk', []],
      ['fax', missing],
    ] as const) {
      await store.queues.setFunctionsPaused([name], true)
      expect(await checkInvariants(redis)).toEqual(found)
      await store.queues.setFunctionsPaused([name], false)
    }
    await store.lanes.heal(['sms@bulk'])
    expect(await checkInvariants(redis)).toEqual([])
  })

  test('reads the keys of a cluster', async () => {
    await redis.lpush('queue:{sms}:high', '7')
    expect(await checkInvariants(redis, { keys: new StoreKeys(true), native: true })).toEqual([
      'sms: 7 is in high and has no hash',
    ])
  })

  test('accepts the states of native programs at each of their steps', async () => {
    const { native } = world
    const waiting = await native.write('sms', Buffer.from('not pushed yet'))
    const pushed = await native.write('sms', Buffer.from('pushed'))
    await native.push('sms', pushed, 'normal')
    const later = await native.write('sms', Buffer.from('later'))
    await native.schedule('sms', later, 60_000)
    await native.take('sms')
    await native.push('sms', await native.write('sms', Buffer.from('pushed')), 'normal')
    await native.count('sms', 1)
    expect(await checkInvariants(redis, { native: true })).toEqual([])
    expect(await checkInvariants(redis, { native: true, strays: true })).toEqual([
      `sms: idle job ${waiting} is in no place`,
    ])
    expect(await checkInvariants(redis)).toEqual([
      'sms: its next scheduled job is due before what the due index says',
    ])
    await store.lanes.heal(['sms'])
    expect(await checkInvariants(redis)).toEqual([])
    await native.count('sms', -1)
    await native.count('sms', -1)
    expect(await checkInvariants(redis)).toEqual(['sms: counts -1 workers, its nodes have 0'])
  })

  test('ignores keys of other programs', async () => {
    await redis.set('job', 'mine')
    await redis.set('queue:x', 'mine')
    await redis.lpush('job:list:of:mine', '1')
    expect(await checkInvariants(redis)).toEqual([])
  })
})
