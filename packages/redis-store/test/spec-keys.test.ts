import type { Redis } from 'ioredis'
import type { NewJob, Lease } from '@crossgear/core-scheduler'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { completed, native, takeOne } from './contract/kit.ts'
import type { SteppedStore } from './contract/store-world.ts'
import type { RedisWorld } from './support/redis-world.ts'
import { eachInNewWorld, oneServer } from './support/servers.ts'

const job: NewJob = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false }

describe.skipIf(lacksRedis)('the keys of the GearMonkey specification, with redis-server:', () => {
  let server: RedisServer
  let world: RedisWorld
  let redis: Redis
  let store: SteppedStore

  eachInNewWorld(oneServer, async (opened, { all }) => {
    ;[world, server] = [opened, all[0]!]
    redis = world.server
    store = await world.node()
  })

  const complete = (lease: Lease, output: string) =>
    store.steps.finish('mail', [completed(lease, output)])

  test('uid counts the jobs, the hash is idle with its input, and the id is in its list', async () => {
    await store.steps.submit('mail', [
      { ...job, level: 8, input: Buffer.from('first') },
      { ...job, input: Buffer.from('second') },
      { ...job, level: 2 },
      { ...job, level: 8 },
    ])
    expect(await redis.get('uid:mail')).toBe('4')
    expect(await redis.hmget('job:mail:1', 'status', 'input')).toEqual(['idle', 'first'])
    expect(await redis.hmget('job:mail:2', 'status', 'input')).toEqual(['idle', 'second'])
    expect(await redis.lrange('queue:mail:high', 0, -1)).toEqual(['4', '1'])
    expect(await redis.lrange('queue:mail:normal', 0, -1)).toEqual(['2'])
    expect(await redis.lrange('queue:mail:low', 0, -1)).toEqual(['3'])
  })

  test('a scheduled job is in the sorted set by its time in seconds', async () => {
    await store.steps.submit('mail', [{ ...job, dueAtMs: 4_000_000_000_500 }])
    expect(await redis.zrange('queue:mail:scheduled', '0', '-1', 'WITHSCORES')).toEqual([
      '1',
      '4000000000.5',
    ])
    expect(await redis.hget('job:mail:1', 'status')).toBe('idle')
    await store.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 1 })
    expect(await redis.zcard('queue:mail:scheduled')).toBe(1)
  })

  test('a retry is in the same sorted set, due by the store’s clock', async () => {
    await store.steps.submit('mail', [job])
    const { lane, id, token } = await takeOne(store, 'mail')
    const before = await redis.time()
    const message = Buffer.from('broken')
    await store.steps.finish(lane, [
      { lane, id, token, kind: 'retry', message, delayMs: 20_000, failure: '{}' },
    ])
    const due = Number(await redis.zscore('queue:mail:scheduled', '1'))
    expect(due - Number(before[0])).toBeGreaterThanOrEqual(20)
    expect(due - Number(before[0])).toBeLessThan(25)
    expect(await redis.hmget('job:mail:1', 'status', 'output')).toEqual(['idle', 'broken'])
    await world.pass(21_000)
    await store.lanes.promote()
  })

  test('a worker behind the gateway publishes busy, start and finish', async () => {
    const ear = server.connect()
    const heard: string[] = []
    const all = new Promise<void>((resolve) => {
      ear.on('message', (channel, message) => {
        heard.push(`${channel} ${message}`)
        if (heard.length === 6) resolve()
      })
    })
    await ear.subscribe('channel:mail')
    await store.steps.submit('mail', [job, job])
    const claimed = await takeOne(store, 'mail')
    expect(await redis.hget('job:mail:1', 'status')).toBe('busy')
    await complete(claimed, 'out')
    await complete(await takeOne(store, 'mail'), 'out')
    await all
    expect(heard).toEqual(
      ['create:1', 'create:2', 'start:1', 'finish:1', 'start:2', 'finish:2'].map(
        (message) => `channel:mail ${message}`,
      ),
    )
  })

  test('a job of native commands is claimed, done, kept 25 hours, and its client released', async () => {
    const blocked = server.connect()
    const id = await redis.incr('uid:mail')
    await redis.hmset(`job:mail:${id}`, 'status', 'idle', 'input', 'native input')
    await redis.publish('channel:mail', `create:${id}`)
    await redis.lpush('queue:mail:normal', id)
    const released = blocked.brpop(`lock:mail:${id}`, 5)
    const claimed = await takeOne(store, 'mail')
    expect(claimed).toMatchObject({ id, door: 'native', level: 5 })
    expect(claimed.input.toString()).toBe('native input')
    expect(claimed.enqueuedAtMs).toBeUndefined()
    await complete(claimed, 'native output')
    expect(await released).toEqual([`lock:mail:${id}`, 'OK'])
    expect(await redis.hmget(`job:mail:${id}`, 'status', 'output')).toEqual([
      'success',
      'native output',
    ])
    expect(await redis.hexists(`job:mail:${id}`, 'token')).toBe(0)
    expect(await redis.ttl(`job:mail:${id}`)).toBe(90_000)
  })

  test('a lock that no client waits for expires after 10 seconds', async () => {
    const id = await world.native.write('mail', Buffer.from('native'))
    await world.native.push('mail', id, 'high')
    await complete(await takeOne(store, 'mail'), '')
    expect(await redis.lrange(`lock:mail:${id}`, 0, -1)).toEqual(['OK'])
    expect(await redis.ttl(`lock:mail:${id}`)).toBe(10)
  })

  test('a lock and a result that a native worker left without expiry get the specified ones', async () => {
    const id = await world.native.write('mail', Buffer.from('native'))
    await world.native.conclude('mail', id, 'success', Buffer.from('out'))
    await redis.lpush(`lock:mail:${id}`, 'OK')
    const look = async (): Promise<number[]> => {
      while (!(await store.native.survey(false)).lapEnded);
      return [await redis.ttl(`job:mail:${id}`), await redis.ttl(`lock:mail:${id}`)]
    }
    expect(await look()).toEqual([90_000, 10])
    await redis.expire(`job:mail:${id}`, 500)
    await redis.expire(`lock:mail:${id}`, 5)
    expect(await look()).toEqual([500, 5])
  })

  test('a lock that a native worker died with gets its end although the job is gone', async () => {
    await store.steps.submit('mail', [job, { ...job, retentionSeconds: 60 }, job])
    for (const id of [1, 2]) {
      await world.native.take('mail')
      await world.native.finish('mail', id, 'success', Buffer.from('out'))
      await store.steps.finish('mail', [completed(native('mail', id), 'out')])
      await redis.persist(`lock:mail:${id}`)
    }
    expect(await redis.exists('job:mail:1')).toBe(0)
    // Of another program, with names like ours.
    await redis.lpush('lock:mail:3', 'OK')
    await redis.lpush('lock:mail:4711', 'OK')
    await redis.lpush('lock:order:1', 'OK')
    await redis.mset('lock:mail:0', 'theirs', 'uid:door', 'theirs')
    await redis.rpush('lock:door:1', 'shut')
    while (!(await store.native.survey(false)).lapEnded);
    const locks = ['mail:1', 'mail:2', 'mail:3', 'mail:4711', 'order:1', 'mail:0', 'door:1']
    const left = await Promise.all(locks.map((lock) => redis.ttl(`lock:${lock}`)))
    expect(left).toEqual([10, 10, -1, -1, -1, -1, -1])
  })

  test('a failed native job has its error and the reason', async () => {
    const id = await world.native.write('mail', Buffer.from('native'))
    await world.native.push('mail', id, 'low')
    const { lane, token } = await takeOne(store, 'mail')
    await store.steps.finish(lane, [
      { lane, id, token, kind: 'fail', message: Buffer.from('broken') },
    ])
    expect(await redis.hmget(`job:mail:${id}`, 'status', 'output')).toEqual(['error', 'broken'])
    expect(await redis.ttl(`job:mail:${id}`)).toBe(90_000)
  })

  test('progress is written as a native worker writes it', async () => {
    await store.steps.submit('mail', [job])
    const { lane, id, token } = await takeOne(store, 'mail')
    const [dividend, divisor] = [Buffer.from('1'), Buffer.from('4')]
    await store.steps.report([{ lane, id, token, kind: 'status', dividend, divisor }])
    expect(await redis.hmget('job:mail:1', 'status:dividend', 'status:divisor')).toEqual(['1', '4'])
  })

  test('count is what a native roll call reads: all workers, by name and consumers', async () => {
    expect(await redis.get('count:mail')).toBeNull()
    await store.lanes.setWorkers(new Map([['mail', { named: 2, consumers: 1 }]]))
    expect(await redis.get('count:mail')).toBe('3')
    await redis.incr('count:mail')
    await store.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 0 }]]))
    expect(await redis.get('count:mail')).toBe('1')
  })

  test('a native worker claims a gateway’s jobs with the specification’s commands, due ones too', async () => {
    const script =
      "local item = redis.call('ZRANGEBYSCORE', KEYS[1], 0, ARGV[1], 'LIMIT', 0, 1); " +
      "if (#item > 0) then redis.call('ZREM', KEYS[1], item[1]); return { KEYS[1],  item[1] }; end"
    const sha = '5231827cd49b540660ef44969b38cc858f157824'
    expect(await redis.script('LOAD', script)).toBe(sha)
    const { nowMs } = await store.nodes.beat()
    await store.steps.submit('mail', [job, { ...job, dueAtMs: nowMs + 500 }, { ...job, level: 9 }])
    const date = Math.ceil(nowMs / 1000)
    const due = await redis.evalsha(sha, 1, 'queue:mail:scheduled', date + 1)
    expect(due).toEqual(['queue:mail:scheduled', '2'])
    const lists = ['queue:mail:high', 'queue:mail:normal', 'queue:mail:low'] as const
    expect(await redis.brpop(...lists, 1)).toEqual(['queue:mail:high', '3'])
    expect(await redis.brpop(...lists, 1)).toEqual(['queue:mail:normal', '1'])
    for (const id of [1, 2, 3]) {
      await redis.hmset(`job:mail:${id}`, 'status', 'busy')
      await world.native.finish('mail', id, 'success', Buffer.from('out'))
    }
  })

  test('keys of other programs are not touched', async () => {
    await redis.set('mine', 'yes')
    await redis.lpush('queue:else', 'yes')
    await store.steps.submit('mail', [job])
    await complete(await takeOne(store, 'mail'), 'out')
    expect((await redis.keys('*')).sort()).toEqual(
      [
        'mine',
        'queue:else',
        'uid:mail',
        'xg:epochs',
        'xg:lane-number',
        'xg:lane:mail',
        'xg:lanes',
        'xg:ready:default',
      ].sort(),
    )
  })
})
