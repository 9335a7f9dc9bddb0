import { lacksRedis } from '@crossgear/tools/redis-server'
import type { Lease, Outcome } from '@crossgear/core-scheduler'
import { allCompleted, namesOf, requeued, take, takeOne } from './contract/kit.ts'
import type { SteppedStore } from './contract/store-world.ts'
import { describe, expect, test } from 'vitest'
import { RedisStore, type ForeignField, type StoreAddress } from '../src/index.ts'
import type { RedisWorld } from './support/redis-world.ts'
import { eachInNewWorld, oneServer, type Servers } from './support/servers.ts'

const job = { input: Buffer.from('ours'), door: 'gearman', level: 5, foreground: false } as const
const lanes = ['mail', 'sms']

describe.skipIf(lacksRedis)('jobs that a foreign program wrote', () => {
  let world: RedisWorld
  let address: StoreAddress
  let store: SteppedStore
  const begin = async (opened: RedisWorld, servers: Servers): Promise<void> => {
    ;[world, address] = [opened, servers.address]
    store = await world.node()
    for (const lane of lanes) await store.lanes.register(lane)
  }
  eachInNewWorld(oneServer, begin, { mayBreak: true })

  async function native(lane: string, fields: Readonly<Record<string, string>>): Promise<number> {
    const id = await world.native.write(lane, Buffer.from('theirs'))
    await world.server.hset(`job:${lane}:${id}`, fields)
    await world.native.push(lane, id, 'normal')
    return id
  }

  const failed = ({ lane, id, token }: Lease): Outcome => ({
    lane,
    id,
    token,
    kind: 'fail',
    message: Buffer.from('no'),
    failure: '{"retry_count":0}',
  })

  test.each([
    ['a claim from one function', { by: 'named', groups: [{ lanes: ['mail'] }] }],
    ['a claim from several functions', { by: 'named', groups: [{ lanes }] }],
    ['a claim by level', { by: 'named', byLevel: true, groups: [{ lanes: ['mail'] }] }],
    ['a claim of a consumer', { by: 'consumer', groups: [{ lanes, queue: 'default' }] }],
  ] as const)(
    'and that cannot be handed out is dead with the reason, and %s gives all others',
    async (_which, claim) => {
      await store.steps.submit('mail', [job])
      // The end of this job fails, since its unique id cannot be looked up.
      const id = await native('mail', {
        door: 'faktory',
        stale: '1',
        unique: 'u',
        enqueued: '1700000000000',
      })
      await store.steps.submit('mail', [job, job])
      await world.server.set('xg:unique:mail', 'theirs')
      const leases = await store.steps.claim({ ...claim, max: 3 })
      expect(namesOf(leases).toSorted()).toEqual(['mail:1', 'mail:3', 'mail:4'])
      expect(await world.server.zrange('xg:dead:mail', '0', '-1')).toEqual([String(id)])
      const [dead] = await store.jobs.read('mail', [id])
      expect(dead).toMatchObject({ status: 'error', settled: true })
      expect(JSON.parse(dead?.failure ?? '')).toMatchObject({
        errtype: 'Unreadable',
        message: expect.stringMatching(/^it cannot be handed out: .*WRONGTYPE/) as string,
      })
      await world.server.del('xg:unique:mail')
      expect(await world.violations()).toEqual([])
    },
  )

  test('and whose end fails costs no other of the same step its outcome', async () => {
    await native('mail', { door: 'faktory', keep: '60', unique: 'u' })
    await store.steps.submit('mail', [job, job])
    const leases = await take(store, ['mail'], 3)
    await world.server.set('xg:unique:mail', 'theirs')
    const outcomes = allCompleted(leases)
    expect(await store.steps.finish('mail', outcomes)).toEqual(['unknown', 'done', 'done'])
    await expect(store.steps.finish('mail', outcomes.slice(0, 1))).rejects.toMatchObject({
      code: 'REFUSED',
    })
    await world.server.del('xg:unique:mail')
    expect(await store.steps.finish('mail', outcomes.slice(0, 1))).toEqual(['done'])
    expect(await world.violations()).toEqual([])
  })

  test.each([{ fg: '1' }, { fg: '1', wait: '' }, { fg: '1', wait: 'nobody' }, { settled: '1' }])(
    'with %j run, and are dead if they fail: without a door the mark means nothing',
    async (fields) => {
      const id = await native('mail', fields)
      const lease = await takeOne(store, 'mail')
      expect(lease).toMatchObject({ id, foreground: false, waiting: 0, settled: false })
      expect(await store.steps.finish('mail', [failed(lease)])).toEqual(['died'])
      expect(await world.server.zrange('xg:dead:mail', '0', '-1')).toEqual([String(id)])
      expect(await world.violations()).toEqual([])
    },
  )

  test('with a door and the mark of a foreground job run: nobody has left them', async () => {
    await native('mail', { door: 'gearman', fg: '1' })
    const lease = await takeOne(store, 'mail')
    await store.steps.finish('mail', [requeued(lease, true)])
    await store.steps.finish('mail', [failed(await takeOne(store, 'mail'))])
    expect(await world.server.zcard('xg:dead:mail')).toBe(1)
  })

  test('with a lock of no key are handed out, as are those behind them', async () => {
    await store.steps.submit('mail', [job])
    await native('mail', { once_until: 'start' })
    await native('mail', { once_until: 'start', door: 'faktory' })
    await store.steps.submit('mail', [job])
    const leases = await take(store, ['mail'], 4)
    expect(namesOf(leases)).toEqual(['mail:1', 'mail:2', 'mail:3', 'mail:4'])
    expect(await world.server.zcard('xg:dead:mail')).toBe(0)
  })

  test.each(['0x5', '5.0', ' 5', '5 ', '+5', '1e1'])(
    'with the id %j are not taken for one of the gateway',
    async (id) => {
      await store.steps.submit(
        'mail',
        Array.from({ length: 10 }, () => job),
      )
      await world.server.hset(`job:mail:${id}`, {
        status: 'idle',
        input: 'in',
        enqueued: '1700000000000.000',
      })
      await world.server.rpush('queue:mail:normal', id)
      expect(namesOf(await take(store, ['mail'], 20))).toHaveLength(10)
      expect(await world.server.hget(`job:mail:${id}`, 'status')).toBe('error')
      expect(await world.server.zcard('xg:busy:mail')).toBe(10)
    },
  )

  test.each(['1 2', ' 1', '1 ', 'n 1 2 3', ''])(
    'with %j for the time of a job that a gateway keeps cost no other its lease',
    async (enqueued) => {
      await store.steps.submit('mail', [job, job, job])
      await world.server.hset('job:mail:2', 'enqueued', enqueued)
      const leases = await take(store, ['mail'], 3)
      expect(namesOf(leases)).toEqual(['mail:1', 'mail:2', 'mail:3'])
      expect(await store.steps.finish('mail', allCompleted(leases))).toEqual([
        'done',
        'done',
        'done',
      ])
    },
  )

  test.each(['abc', '1.5', '', '1e3', '9'.repeat(400)])(
    'with the id %j, scheduled, hold up none that are due',
    async (id) => {
      await world.server.hset(`job:mail:${id}`, { status: 'idle', input: 'in' })
      await world.server.zadd('queue:mail:scheduled', 1, id)
      await store.steps.submit('mail', [{ ...job, dueAtMs: Date.now() + 60_000 }])
      await store.steps.submit('sms', [{ ...job, dueAtMs: Date.now() + 60_000 }])
      await world.pass(60_001)
      await store.lanes.heal(lanes)
      await store.lanes.promote()
      expect(namesOf(await take(store, lanes, 9)).toSorted()).toEqual(['mail:1', 'sms:1'])
      expect(await world.server.hget(`job:mail:${id}`, 'status')).toBe('error')
      expect(await world.violations()).toEqual([])
    },
  )

  test.each(['inf', '1e308', '-inf', '-1e308'])(
    'and that are due at %s hold up no others',
    async (score) => {
      const id = await world.native.write('mail', Buffer.from('theirs'))
      await world.server.zadd('queue:mail:scheduled', score, id)
      await store.lanes.heal(lanes)
      await store.steps.submit('mail', [{ ...job, dueAtMs: Date.now() + 60_000 }])
      await store.steps.submit('sms', [{ ...job, dueAtMs: Date.now() + 60_000 }])
      await world.server.zadd('queue:mail:scheduled', 1, '2')
      await world.server.zadd('queue:sms:scheduled', 1, '1')
      await world.server.zadd('xg:due', 0, 'mail', 1, 'sms')
      for (let calls = 0; calls < 3; calls += 1) await store.lanes.promote()
      const isDue = score.startsWith('-')
      expect(namesOf(await take(store, lanes, 9)).toSorted()).toEqual([
        ...(isDue ? ['mail:1'] : []),
        'mail:2',
        'sms:1',
      ])
      const page = await store.inspect.page({ lane: 'mail', place: 'scheduled', from: 0, count: 9 })
      expect(page.jobs).toMatchObject(isDue ? [] : [{ id: 1 }])
      expect(await world.server.zscore('xg:due', 'mail')).toBe(isDue ? null : '9000000000000000')
      expect(await world.violations()).toEqual([])
    },
  )

  test('with times to come neither keep back others nor give them such times', async () => {
    await native('mail', { enqueued: 'inf' })
    await world.server.rpop('queue:mail:normal')
    await world.server.zadd('queue:mail:scheduled', 1, '1')
    await store.steps.submit('mail', [{ ...job, dueAtMs: Date.now() + 60_000 }])
    await world.server.zadd('queue:mail:scheduled', 2, '2')
    await world.server.zadd('xg:due', 0, 'mail')
    await store.lanes.promote()
    expect(await world.server.hget('job:mail:2', 'enqueued')).toMatch(/^\d{13}\.\d{3}$/)
    expect(namesOf(await take(store, ['mail'], 9))).toEqual(['mail:1', 'mail:2'])
  })

  test('of a silent native worker, with losses that are no number, are requeued', async () => {
    const id = await native('mail', { losses: 'many' })
    await world.native.take('mail')
    const request = { leaseMs: 0, mends: 'all', max: 9, maxLosses: 2, failure: '{}' } as const
    for (let ended = false; !ended;) ended = (await store.native.survey(true)).lapEnded
    expect(await store.native.repair(lanes, request)).toMatchObject([{ kind: 'busy', id }])
    expect(await world.server.hget(`job:mail:${id}`, 'losses')).toBe('1')
    expect(namesOf(await take(store, ['mail'], 9))).toEqual([`mail:${id}`])
  })

  test('with the client of a node, and a retention that is no number, let the node be reclaimed', async () => {
    const other = await world.node()
    await other.steps.submit('mail', [{ ...job, foreground: true }])
    await world.server.hset('job:mail:1', 'keep', 'x')
    await takeOne(other, 'mail', { by: 'consumer', queue: 'default' })
    const loss = { maxLosses: 0, failure: '{}' }
    expect(await store.nodes.reclaim(other.node, ['mail'], loss)).toMatchObject({
      refused: new Map(),
    })
    expect(await world.violations()).toEqual([])
  })

  test('are told by field', async () => {
    const told: ForeignField[] = []
    const listening = new RedisStore(address, { onForeignField: (field) => void told.push(field) })
    await listening.open()
    const id = await native('mail', {
      reserve_for: 'inf',
      level: '5',
      fg: '1',
      theirs: 'x',
      losses: '2',
    })
    await takeOne(listening, 'mail')
    await listening.close()
    expect(told.toSorted((one, other) => one.field.localeCompare(other.field))).toEqual([
      { lane: 'mail', id, field: 'fg' },
      { lane: 'mail', id, field: 'reserve_for' },
    ])
  })
})
