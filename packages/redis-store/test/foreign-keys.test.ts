import { lacksRedis } from '@crossgear/tools/redis-server'
import type { Redis } from 'ioredis'
import { beforeEach, describe, expect, test } from 'vitest'
import { noStep } from '@crossgear/core-scheduler'
import { completed, namesOf, requeued, take, takeOne } from './contract/kit.ts'
import type { SteppedStore } from './contract/store-world.ts'
import type { RedisWorld } from './support/redis-world.ts'
import { eachInNewWorld, oneServer } from './support/servers.ts'

const job = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false } as const
const lanes = ['bad', 'mail']
const noLimit = { maxLosses: 0, failure: '{}' }

/** Keys of the GearMonkey text in which a foreign program has put something else. */
const spoiled: Readonly<Record<string, (redis: Redis) => Promise<unknown>>> = {
  'a string for a queue': (redis) => redis.set('queue:bad:normal', 'theirs'),
  'a string for the scheduled set': (redis) => redis.set('queue:bad:scheduled', 'theirs'),
  'a list for the count': (redis) => redis.lpush('count:bad', 'theirs'),
  'a string for a job': async (redis) => {
    await redis.set('job:bad:7', 'theirs')
    await redis.lpush('queue:bad:normal', 7)
  },
  'a level of its own': async (redis) => {
    await redis.hset('job:bad:7', { status: 'idle', input: 'in', level: 'debug', enqueued: 'now' })
    await redis.lpush('queue:bad:normal', 7)
  },
}

describe.skipIf(lacksRedis)('with keys of a function written by a foreign program,', () => {
  let world: RedisWorld
  let store: SteppedStore
  const begin = async (opened: RedisWorld): Promise<void> => {
    world = opened
    store = await world.node()
    for (const lane of lanes) await store.lanes.register(lane)
  }
  eachInNewWorld(oneServer, begin, { mayBreak: true })

  describe.each(Object.keys(spoiled))('%s', (name) => {
    beforeEach(async () => {
      await spoiled[name]?.(world.server)
      await world.server.zadd('xg:due', 1, 'bad')
    })

    test('does not hold up the work of other functions', async () => {
      await store.steps.submit('mail', [job])
      expect(await store.lanes.nonEmpty(lanes)).toContain('mail')
      expect(namesOf(await take(store, lanes, 9))).toContain('mail:1')
      await store.steps.submit('mail', [job])
      const groups = [{ lanes, queue: 'default' }]
      expect(namesOf(await store.steps.claim({ by: 'consumer', groups, max: 9 }))).toEqual([
        'mail:2',
      ])
    })

    test('does not hold up the maintenance of other functions', async () => {
      await store.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 0 }]]))
      await world.native.count('mail', 1)
      const id = await world.native.write('mail', Buffer.from('in'))
      await world.native.schedule('mail', id, -1)
      await store.lanes.heal(lanes).catch(() => undefined)
      expect(await store.lanes.promote()).toContainEqual({ lane: 'mail', jobs: 1 })
      expect(await store.native.workedLanes(lanes, true)).toEqual(['mail'])
      expect(await store.queues.oldest(lanes)).toMatchObject({ 1: expect.any(Number) as number })
      expect(await store.lanes.counts(lanes)).toMatchObject([
        { lane: 'bad' },
        { normal: 1, workers: 2 },
      ])
      expect(await store.jobs.expired(lanes, 9)).toEqual([])
      const lease = { leaseMs: 0, mends: 'all' as const, max: 9, maxLosses: 0, failure: '{}' }
      expect(await store.native.repair(lanes, lease)).toMatchObject([{ lane: 'mail' }])
      for (let ended = false; !ended;) ended = (await store.native.survey(true)).lapEnded
      const nothing = { woken: [], requeued: 0, refused: new Map(), consumed: [], dropped: [] }
      expect(await store.nodes.reclaim('gone', lanes, noLimit)).toEqual(nothing)
    })
  })

  test('refuses submissions of its function and not those that come with them', async () => {
    await world.server.set('queue:bad:normal', 'theirs')
    const arrivals = lanes.map((lane, at) => ({ lane, jobs: [job], places: [at] }))
    const { submissions } = await store.steps.step({ ...noStep, submissions: arrivals })
    expect(submissions).toEqual([
      expect.objectContaining({
        code: 'REFUSED',
        message: expect.stringMatching(/^WRONGTYPE/) as string,
      }),
      expect.objectContaining({ results: [{ kind: 'created', id: 1 }] }),
    ])
    await expect(store.steps.submit('bad', [job])).rejects.toMatchObject({ code: 'REFUSED' })
    expect(namesOf(await take(store, ['mail'], 9))).toEqual(['mail:1'])
    await world.server.del('queue:bad:normal')
  })

  test('the error of the maintenance names the function', async () => {
    await world.server.set('queue:bad:low', 'theirs')
    await expect(store.lanes.heal(lanes)).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('in bad') as string,
    })
  })

  test('a refused submission leaves nothing that another could join', async () => {
    await world.server.set('queue:bad:low', 'theirs')
    const unique = Buffer.from('one of a kind')
    const jobs = [{ ...job, unique }, { ...job, level: 2 } as const]
    await expect(store.steps.submit('bad', jobs)).rejects.toMatchObject({ code: 'REFUSED' })
    expect(await world.server.keys('job:*')).toEqual([])
    await world.server.del('queue:bad:low')
    expect(await store.steps.submit('bad', [jobs[0] ?? job])).toEqual([{ kind: 'created', id: 1 }])
  })

  test('due jobs and leases stay until the queue is valid again', async () => {
    const later = { ...job, dueAtMs: Date.now() + 3_600_000 }
    await store.steps.submit('bad', [job, job, later, later])
    const [done, lost] = await take(store, ['bad'], 2)
    if (!done || !lost) throw new Error('nothing to take')
    await world.pass(3_600_001)
    await world.server.set('queue:bad:normal', 'theirs')
    await store.lanes.promote()
    const outcomes = [completed(done), requeued(lost, true)]
    await expect(store.steps.finish('bad', outcomes)).rejects.toMatchObject({ code: 'REFUSED' })
    const { refused } = await store.nodes.reclaim(store.node, ['bad'], noLimit)
    expect([...refused]).toMatchObject([['bad', { code: 'REFUSED' }]])
    await world.server.del('queue:bad:normal')
    expect(await store.steps.finish('bad', outcomes)).toEqual(['done', 'requeued'])
    await store.lanes.heal(lanes)
    await store.lanes.promote()
    expect(namesOf(await take(store, ['bad'], 9)).sort()).toEqual(['bad:2', 'bad:3', 'bad:4'])
    expect(await world.violations()).toEqual([])
  })

  test.each(['queue:bad:normal', 'xg:lane:bad'])(
    'a dead node is reclaimed in other lanes although %s is invalid, and later in that one',
    async (key) => {
      const dead = await world.node()
      await store.steps.submit('bad', [job])
      await store.steps.submit('mail', [job])
      const groups = [{ lanes: ['bad'] }, { lanes: ['mail'] }]
      await dead.steps.claim({ by: 'named', groups, max: 2 })
      const hadKey = (await world.server.exists(key)) === 1
      if (hadKey) await world.server.rename(key, 'kept')
      await world.server.set(key, 'theirs')
      await store.nodes.declareDead(dead.node)
      const { woken, refused } = await store.nodes.reclaim(dead.node, lanes, noLimit)
      expect([woken, [...refused.keys()]]).toEqual([['mail'], ['bad']])
      await store.nodes.endReclaim(dead.node, false)
      await world.server.del(key)
      if (hadKey) await world.server.rename('kept', key)
      await store.nodes.declareDead(dead.node)
      expect(await store.nodes.reclaim(dead.node, ['bad'], noLimit)).toMatchObject({
        woken: ['bad'],
        refused: new Map(),
      })
      expect(namesOf(await take(store, lanes, 9)).sort()).toEqual(['bad:1', 'mail:1'])
      expect(await world.violations()).toEqual([])
    },
  )

  test('one job that cannot be given back does not keep the others', async () => {
    const dead = await world.node()
    await store.steps.submit('mail', [job, job])
    const [given, buried] = await dead.steps.claim({ by: 'named', groups: [{ lanes }], max: 2 })
    await world.server.hset(`job:mail:${buried?.id}`, 'losses', 1)
    await world.server.set('xg:dead:mail', 'theirs')
    const loss = { maxLosses: 2, failure: '{}' }
    const { woken, refused } = await store.nodes.reclaim(dead.node, ['mail'], loss)
    expect([woken, [...refused.keys()]]).toEqual([[], ['mail']])
    expect(namesOf(await take(store, ['mail'], 9))).toEqual([`mail:${given?.id}`])
  })

  test('jobs next to invalid entries are claimed, and none is lost', async () => {
    await world.server.set('job:mail:9', 'theirs')
    await world.server.lpush('queue:mail:normal', 9)
    await store.steps.submit('mail', [job, { ...job, level: 8 }])
    expect(namesOf(await take(store, ['mail'], 9))).toEqual(['mail:2', 'mail:1'])
    expect(await world.server.zrange('xg:busy:mail', '0', '-1')).toEqual(['1', '2'])
  })

  test.each(['debug', '42', '5.5', ''])(
    'a native job with a level %j is not lost',
    async (level) => {
      const id = await world.native.write('mail', Buffer.from('in'))
      await world.server.hset(`job:mail:${id}`, { level, stale: 'x', reserve_for: 'x', keep: 'x' })
      await world.native.push('mail', id, 'normal')
      const first = await takeOne(store, 'mail')
      expect(first.level).toBe(5)
      await store.steps.finish('mail', [requeued(first, true)])
      const again = completed(await takeOne(store, 'mail'))
      expect(await store.steps.finish('mail', [again])).toEqual(['done'])
      expect(await world.secondsLeft('mail', id)).toBe(90_000)
    },
  )

  test.each(['next', '7a', '007', '1e3', '-3', 'nan', '9007199254740992', '1234567890123456789'])(
    'a native job with the id %j ends as an error, and others beside it are claimed',
    async (id) => {
      const { server: redis } = world
      await store.steps.submit('mail', [job])
      await redis.hset(`job:mail:${id}`, { status: 'idle', input: 'in' })
      await redis.rpush('queue:mail:normal', id)
      await store.steps.submit('mail', [job])
      await store.lanes.heal(['mail'])
      const groups = [{ lanes, queue: 'default' }]
      expect(namesOf(await store.steps.claim({ by: 'consumer', groups, max: 9 }))).toEqual([
        'mail:1',
        'mail:2',
      ])
      expect(await redis.hgetall(`job:mail:${id}`)).toMatchObject({
        status: 'error',
        output: 'the id of a job is an integer from 0 to 9007199254740991',
      })
      expect(await redis.ttl(`job:mail:${id}`)).toBe(90_000)
      expect(await redis.lrange(`lock:mail:${id}`, 0, -1)).toEqual(['OK'])
      expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ normal: 0, failed: 1 })
      expect(await world.violations()).toEqual([])
    },
  )

  test('the search for orphans passes a queue whose next job has no number', async () => {
    const { server: redis } = world
    await redis.hset('job:mail:next', { status: 'idle', input: 'in' })
    await redis.rpush('queue:mail:normal', 'next')
    const id = await world.native.write('mail', Buffer.from('in'))
    await world.native.push('mail', id, 'normal')
    for (let isAll = false; !isAll;) isAll = (await store.native.survey(true)).lapEnded
    expect(await redis.lrange('queue:mail:normal', 0, -1)).toEqual([String(id), 'next'])
  })

  test('keys of other programs that look like functions are ignored', async () => {
    await world.server.mset('uid:', 1, 'uid:4711', 'theirs', Buffer.from('uid:\xff', 'latin1'), 1)
    const id = await world.native.write('sms', Buffer.from('in'))
    await world.native.push('sms', id, 'normal')
    expect(await store.lanes.discover(() => false)).toEqual(['sms'])
  })

  test.each<readonly [act: string, key: string, by: () => Promise<unknown>]>([
    ['limits', 'xg:lane:bad', () => store.admin.setLimits('bad', { high: 1, normal: 0, low: 0 })],
    ['the end of a lane', 'xg:lanes', () => store.admin.dropLane('bad', 9)],
    ['a paused queue', 'xg:paused', () => store.queues.setPaused(['default'], true)],
    [
      'a resumed function',
      'xg:paused-functions',
      () => store.queues.setFunctionsPaused(['mail'], false),
    ],
  ])('%s that the store refuses is not taken for done', async (_act, key, by) => {
    await world.server.del(key)
    await world.server.set(key, 'theirs')
    await expect(by()).rejects.toMatchObject({ name: 'StoreError', code: 'REFUSED' })
  })

  test('a refused worker count is stored again as it was', async () => {
    await world.server.set('count:mail', 'theirs')
    const count = { named: 1, consumers: 0 }
    const both = new Map([
      ['mail', count],
      ['sms', count],
    ])
    const refused = await store.lanes.setWorkers(both)
    expect([...refused.keys()]).toEqual(['mail'])
    expect(refused.get('mail')).toMatchObject({ code: 'REFUSED' })
    expect(await world.server.get('count:sms')).toBe('1')
    await world.server.del('count:mail')
    await store.lanes.setWorkers(new Map([['mail', count]]))
    expect(await world.violations()).toEqual([])
  })
})
