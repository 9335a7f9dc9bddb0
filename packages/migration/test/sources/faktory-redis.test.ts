import { RedisServer } from '@crossgear/tools/redis-server'
import { expect, test } from 'vitest'
import { openSource } from '../../src/sources/open-source.ts'
import { makePlan } from '../../src/acts/plan.ts'
import { rollback } from '../../src/acts/rollback.ts'
import { run } from '../../src/acts/run.ts'
import { Selection } from '../../src/acts/selection.ts'
import { expectRefusal, migration, sourceContract } from '../support/source-contract.ts'
import type { TestTarget } from '../support/target.ts'

const hour = 3_600_000
const later = Date.now() + 24 * hour

/** The fields that Faktory 1.10 writes. */
function jobText(jid: string, type: string, queue: string, more = '', args = '[1]'): string {
  const times = `"created_at":"2026-08-01T10:00:00.123456789Z","enqueued_at":"2026-08-01T10:00:00.5Z"`
  return `{"jid":"${jid}","queue":"${queue}","jobtype":"${type}","args":${args},${times}${more}}`
}

const failure = `"failure":{"retry_count":2,"remaining":23,"failed_at":"2026-08-01T11:00:00Z","message":"no route","errtype":"IOError"}`

async function fill(server: RedisServer, prefix: string): Promise<void> {
  const redis = server.connect()
  await redis.flushall()
  await redis.sadd('queues', 'default', 'bulk')
  for (let at = 0; at < 40; at += 1) {
    const queue = at % 2 === 0 ? 'default' : 'bulk'
    const args = at === 4 ? '[12345678901234567890, "ü", null]' : `[${at}]`
    await redis.lpush(`${prefix}${queue}`, jobText(`jid-queued-${at}`, 'Mail', queue, '', args))
  }
  await redis.zadd(
    'scheduled',
    later / 1000,
    jobText('jid-later', 'Mail', 'default', ',"at":"2030-01-01T00:00:00Z"'),
  )
  await redis.zadd(
    'retries',
    (later + 0.5) / 1000,
    jobText('jid-again', 'Mail', 'default', `,"retry":25,${failure}`),
  )
  await redis.zadd(
    'dead',
    later / 1000,
    jobText('jid-dead', 'Mail', 'bulk', `,"retry":3,${failure}`),
  )
  const held = jobText('jid-working', 'Other', 'default', ',"priority":9')
  await redis.zadd(
    'working',
    1,
    `{"job":${held},"reserved_at":"2026-08-01T10:00:00Z","expires_at":"2026-08-01T10:30:00Z","wid":"w1"}`,
  )
  await redis.set('processed', 7)
  redis.disconnect()
}

// No Faktory server can be installed here: its data is built by hand, as facts of 1.9.4 and 1.10.0 say.
async function start(target: TestTarget) {
  const server = await RedisServer.start()
  const queues = ['q:default', 'q:bulk']
  return {
    server,
    address: `faktory+unix://${server.path}`,
    refill: () => fill(server, 'q:'),
    async arrived() {
      expect(await target.store.lanes.counts(['Mail', 'Mail@bulk', 'Other'])).toMatchObject([
        { normal: 20, scheduled: 2, retrying: 1, dead: 0 },
        { normal: 20, dead: 1 },
        { high: 1 },
      ])
      const mail = await target.jobs('Mail')
      const again = mail.find(({ job }) => job.jid === 'jid-again')
      expect(again?.job.failure).toContain('"message":"no route"')
      expect(again?.job.retries).toBe(25)
      expect(mail.find(({ job }) => job.jid === 'jid-later')?.dueAtMs).toBe(later)
      expect(mail.find(({ job }) => job.jid === 'jid-queued-4')?.job.input.toString()).toBe(
        '[12345678901234567890, "ü", null]',
      )
    },
    async emptied() {
      const keys = ['scheduled', 'retries', 'dead', 'working']
      expect(await server.ask('EXISTS', ...queues, ...keys)).toBe('0')
    },
    async restored() {
      const redis = server.connect()
      expect([await redis.llen(queues[0]!), await redis.llen(queues[1]!)]).toEqual([21, 20])
      const oldest = JSON.parse((await redis.lindex(queues[1]!, -1)) ?? '{}') as object
      expect(oldest).toMatchObject({
        jid: 'jid-queued-1',
        jobtype: 'Mail',
        queue: 'bulk',
        args: [1],
      })
      expect(await redis.zrange('retries', 0, '-1')).toEqual([
        expect.stringContaining('"retry_count":2'),
      ])
      const [dead, score] = await redis.zrange('dead', 0, '-1', 'WITHSCORES')
      expect(dead).toContain('jid-dead')
      expect(Math.round(Number(score) * 1000)).toBe(later)
      expect(await redis.zcard('scheduled')).toBe(1)
      redis.disconnect()
    },
    stop: () => server.stop(),
  }
}

sourceContract(
  {
    name: "needs redis-server: Faktory's own Redis, its data built by hand",
    jobs: 44,
    batch: 7,
    start,
  },
  (queue) => {
    test('queues of versions up to 1.9 are read as well', async () => {
      await fill(queue.fixture.server, '')
      const { counts } = await queue.move(false)
      expect(counts).toMatchObject({ read: 44, created: 44, rejected: 0 })
      await queue.fixture.arrived()
      expect(await queue.target.verify(await queue.open(), migration)).toMatchObject({
        isEqual: true,
      })
      expect((await queue.move(false)).counts).toMatchObject({ created: 0, known: 44 })
    })

    const emptied = async () => {
      const redis = queue.fixture.server.connect()
      await redis.flushall()
      return redis
    }

    test('consumers get the jobs of a queue in their old order', async () => {
      await queue.move(false)
      const jobs = await queue.target.consumed('bulk', ['Mail@bulk'])
      const order = Array.from({ length: 20 }, (_none, at) => `jid-queued-${2 * at + 1}`)
      expect(jobs.map(({ jid }) => jid)).toEqual(order)
    })

    test('jobs of several types keep the order of their queue', async () => {
      const redis = await emptied()
      await redis.sadd('queues', 'default')
      for (let at = 0; at < 20; at += 1) {
        await redis.lpush(
          'q:default',
          jobText(`jid-number-${at}`, at % 3 === 0 ? 'Mail' : 'Post', 'default'),
        )
      }
      redis.disconnect()
      await queue.move(false)
      const jids = (await queue.target.consumed('default', ['Mail', 'Post'])).map(({ jid }) => jid)
      expect(jids).toEqual(Array.from({ length: 20 }, (_none, at) => `jid-number-${at}`))
    })

    test('after a rollback the types of a queue stand in their order, behind the jobs that stayed', async () => {
      const names = ['A1', 'B2', 'A3', 'B4', 'A5']
      const redis = await emptied()
      await redis.sadd('queues', 'default')
      for (const name of names) {
        await redis.lpush('q:default', jobText(`jid-of-${name}`, name.slice(0, 1), 'default'))
      }
      await redis.rpush('q:default', 'no json')
      redis.disconnect()
      const { counts } = await queue.move(true, { batch: 2 })
      expect(counts).toMatchObject({ created: 5, removed: 5, rejected: 1 })
      const undone = await queue.target.rollBack(await queue.open(true), migration)
      expect(undone).toMatchObject({ restored: 5, rejected: 1, left: [{ where: 'q:default' }] })
      const looking = queue.fixture.server.connect()
      const members = (await looking.lrange('q:default', 0, '-1')).toReversed()
      looking.disconnect()
      expect(members.shift()).toBe('no json')
      const jids = members.map((text) => (JSON.parse(text) as { jid: string }).jid)
      expect(jids).toEqual(names.map((name) => `jid-of-${name}`))
    })

    test('jobs outside the selection stay, and the rest is moved', async () => {
      const source = await queue.open(true)
      const selection = new Selection({ states: ['queued'], map: ['Mail=Post@slow'] })
      const options = { name: migration, isMove: true, batch: 7 }
      const { counts } = await run({
        source,
        target: queue.target.as(migration),
        selection,
        options,
      })
      await source.close()
      expect(counts).toMatchObject({ created: 40, leftOut: 4, removed: 40 })
      expect(await queue.target.store.lanes.counts(['Post@slow'])).toMatchObject([{ normal: 40 }])
      expect(await queue.fixture.server.ask('ZCARD', 'retries')).toBe('1')
    })

    test('a move that was killed after the removal treats an identical later job as another one', async () => {
      const { server } = queue.fixture
      const fill = () => server.ask('LPUSH', 'q:default', jobText('jid-again-1', 'Mail', 'default'))
      await server.ask('FLUSHALL')
      await server.ask('SADD', 'queues', 'default')
      await fill()
      await queue.moveAndDie()
      await fill()
      const counts = { read: 1, created: 1, known: 0, removed: 1 }
      expect((await queue.move(true)).counts).toMatchObject(counts)
      expect(await server.ask('KEYS', '*')).toBe('queues')
      expect(await queue.target.jobs('Mail')).toHaveLength(2)
    })

    test('a rollback that was killed half way leaves its jobs among the dead, and takes them back when repeated', async () => {
      const { target, fixture } = queue
      const { server } = fixture
      await server.ask('FLUSHALL')
      await server.ask('SADD', 'queues', 'default')
      await server.ask('LPUSH', 'q:default', jobText('jid-queued', 'Mail', 'default'))
      const sets = ['scheduled', 'retries', 'dead']
      const times = [0, 1, 2].map((more) => Math.floor(later / 1000) + more)
      for (const [at, set] of sets.entries()) {
        const more = set === 'scheduled' ? '' : `,"retry":5,${failure}`
        const text = jobText(`jid-${set}`, 'Mail', 'default', more)
        await server.ask('ZADD', set, String(times[at]), text)
      }
      await queue.move(true)
      const source = await queue.open(true)
      const restore = source.restore?.bind(source)
      const { store, names } = target
      const parts = { imports: store.imports, names, name: migration, source }
      source.restore = () => Promise.reject(new Error('killed'))
      await expect(rollback(parts)).rejects.toThrow('killed')
      expect(await target.server.ask('ZCARD', 'queue:Mail:scheduled')).toBe('0')
      expect(await target.server.ask('ZCARD', 'xg:dead:Mail')).toBe('4')
      const claim = { by: 'named', groups: [{ lanes: ['Mail'] }], max: 10 } as const
      expect(await store.steps.claim(claim)).toEqual([])
      expect(await target.violations()).toEqual([])
      if (restore) source.restore = restore
      expect(await rollback(parts)).toMatchObject({ undone: 4, restored: 4, begun: 0 })
      await source.close()
      expect(await server.ask('LLEN', 'q:default')).toBe('1')
      const members = sets.map((set) => server.ask('ZRANGE', set, '0', '-1', 'WITHSCORES'))
      const scores = (await Promise.all(members)).map((text) => /\d{9,}\s*$/.exec(text)?.[0])
      expect(scores.map(Number)).toEqual(times)
    })

    test('invalid jobs are counted, reported and left, and all others are moved', async () => {
      const redis = await emptied()
      await redis.lpush(
        'q:default',
        'no json',
        '{"jid":"short"}',
        jobText('jid-good-one', 'Mail', 'default'),
      )
      await redis.zadd('working', 1, '{"wid":"w"}')
      redis.disconnect()
      const { counts, rejects } = await queue.move(true)
      expect(counts).toMatchObject({
        read: 4,
        created: 1,
        rejected: 3,
        removed: 1,
      })
      expect(rejects.map(({ reason, raw }) => [reason, raw.toString()])).toEqual([
        ['bad_job', 'no json'],
        ['bad_job', '{"jid":"short"}'],
        ['bad_job', '{"wid":"w"}'],
      ])
      expect(await queue.fixture.server.ask('LLEN', 'q:default')).toBe('2')
    })

    test('a Redis that a server uses is not read without --while-live', async () => {
      const redis = await emptied()
      const source = await queue.openNow()
      const plan = await makePlan(source, new Selection(), {})
      expect(plan.jobs).toBe(0)
      expect(source.liveReason).toContain('1 other connection')
      const parts = { source, target: queue.target.as(migration), selection: new Selection() }
      await expect(run({ ...parts, options: { name: migration } })).rejects.toThrow('--while-live')
      await source.close()
      redis.disconnect()
    })

    test.each([
      ['', 'NOAUTH'],
      [':wrong@', 'WRONGPASS'],
    ])('a Redis with a password, and %j in its address: one clear line', async (login, line) => {
      const locked = await RedisServer.start('--requirepass', 'secret')
      try {
        const from = `faktory+redis://${login}127.0.0.1:${locked.port}`
        await expect(openSource(from, { isMove: false, functions: [] })).rejects.toMatchObject({
          code: 'UNREACHABLE',
          message: expect.stringMatching(
            new RegExp(`^faktory.redis://127[^ ]*: ${line} .*[^.]\\.$`),
          ) as string,
        })
      } finally {
        await locked.stop()
      }
    })

    test('a server that is away: one clear line', async () => {
      const away = 'faktory+redis://127.0.0.1:1'
      await expectRefusal(away, 'UNREACHABLE', `${away}/0`)
    })
  },
)
