import type { Static } from '@sinclair/typebox'
import { readReport } from '@crossgear/redis-store'
import { describe, expect, test } from 'vitest'
import { serverTroubles } from '../../../src/web/api/reads/troubles/trouble-reads.ts'
import { GrowingAges } from '../../../src/web/api/reads/troubles/growing-ages.ts'
import type { troubles } from '../../../src/web/api/schemas/troubles.ts'
import type { LaneFigures } from '../../../src/operations/metrics/store-snapshot.ts'
import { type ApiGateway, apiOnRedis } from './support/api-gateway.ts'

const { describeApi, openApi, redis } = apiOnRedis({ isEmptied: true })

type Troubles = Static<typeof troubles>

const look = async ({ get }: ApiGateway): Promise<Troubles> => (await get('/troubles')) as Troubles

/** Troubles in short. */
const told = async (api: ApiGateway) =>
  (await look(api)).troubles.map(({ code, name, jobs }) => [code, name, jobs])

describeApi('what is wrong', () => {
  test('is told of paused functions and queues, with who and since when, and of jobs without workers', async () => {
    const api = await openApi()
    expect(await look(api)).toMatchObject({ troubles: [], more: 0 })
    const client = await api.gateway.peer()
    for (const fn of ['mail', 'mail', 'sms', 'print@paper']) {
      await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
    }
    await api.act('/functions/pause', { functions: ['mail'] })
    await api.act('/queues/pause', { queues: ['default'] })
    await expect
      .poll(() => told(api))
      .toEqual([
        ['no_worker', 'print', 1],
        ['paused_function', 'mail', 2],
        ['paused_queue', 'default', 3],
      ])
    const { troubles: found } = await look(api)
    expect(found[0]?.text).toBe('In the queue paper: No worker')
    expect(found[1]).toMatchObject({
      kind: 'function',
      text: `Paused by an operator since ${(found[1]?.since ?? '').replace(/\.\d+Z$/, 'Z')}`,
      act: { operation: 'resumeFunctions', name: 'mail' },
    })
    expect(found[2]?.act).toEqual({ operation: 'resumeQueues', name: 'default' })
    const worker = await api.gateway.peer('print@paper')
    await worker.ask('GRAB_JOB')
    await api.act('/functions/resume', { functions: ['mail'] })
    await api.act('/queues/resume', { queues: ['default'] })
    await expect
      .poll(() => told(api))
      .toEqual([
        ['no_worker', 'mail', 2],
        ['no_worker', 'sms', 1],
      ])
  })

  test('is told of jobs whose Faktory workers vanished, of any door, until they are back', async () => {
    const api = await openApi()
    const consumer = await api.gateway.consumer({ wid: 'leaver' })
    await consumer.push('held-00001', { jobtype: 'f', queue: 'q' })
    await consumer.ask('FETCH q')
    const client = await api.gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'f', '', 'x')
    await consumer.ask('FETCH default')
    expect(await told(api)).toEqual([])
    consumer.close()
    await expect.poll(() => told(api)).toEqual([['vanished', 'f', 2]])
    const back = await api.gateway.consumer({ wid: 'leaver' })
    await back.ask('BEAT {"wid":"leaver"}')
    await expect.poll(() => told(api)).toEqual([])
  })

  test('names of each kind those that concern most jobs, and counts the others', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    for (let at = 0; at < 12; at += 1) await client.submit('SUBMIT_JOB_BG', `f${at}`, '', 'x')
    await client.submit('SUBMIT_JOB_BG', 'f11', '', 'y')
    await expect.poll(async () => (await look(api)).more).toBe(2)
    expect((await look(api)).troubles[0]).toMatchObject({ name: 'f11', jobs: 2 })
  })

  test('has what the servers of the store say, and a policy that drops jobs', async () => {
    const api = await openApi()
    const store = redis().connect()
    const [server] = (await look(api)).servers
    expect(server).toMatchObject({ policy: 'noeviction', max_bytes: null, last_save: null })
    expect(server?.used_bytes).toBeGreaterThan(100_000)
    try {
      await store.config('SET', 'maxmemory', '1gb')
      await store.config('SET', 'maxmemory-policy', 'allkeys-lru')
      await expect
        .poll(async () => (await look(api)).troubles)
        .toMatchObject([{ code: 'eviction', kind: 'server' }])
    } finally {
      await store.config('SET', 'maxmemory-policy', 'noeviction')
      await store.config('SET', 'maxmemory', '0')
    }
  })
})

describe('a server of the store', () => {
  const report = (...lines: readonly string[]) => readReport('s:1', lines.join('\r\n'))
  const codes = (...lines: readonly string[]): readonly string[] =>
    serverTroubles(report(...lines)).map(({ code }) => code)

  test.each([
    [['used_memory:85', 'maxmemory:100'], ['memory']],
    [['used_memory:85', 'maxmemory:0', 'total_system_memory:1000'], []],
    [['used_memory:850', 'maxmemory:0', 'total_system_memory:1000'], ['memory']],
    [['maxmemory:100', 'maxmemory_policy:volatile-lru'], ['eviction']],
    [['maxmemory:0', 'maxmemory_policy:volatile-lru'], []],
    [['aof_enabled:0', 'rdb_last_bgsave_status:err'], ['persistence']],
    [['aof_enabled:1', 'rdb_last_bgsave_status:err'], []],
    [['aof_enabled:1', 'aof_last_write_status:err'], ['persistence']],
    [[], []],
  ])('with %j has the troubles %j', (lines, expected) => {
    expect(codes(...lines)).toEqual(expected)
  })

  test('has no snapshot before its first one, though it names a time', () => {
    const started = ['server_time_usec:1000000000000', 'uptime_in_seconds:1000']
    expect(report(...started, 'rdb_last_save_time:999000').savedMs).toBeUndefined()
    expect(report(...started, 'rdb_last_save_time:999500').savedMs).toBe(999_500_000)
  })
})

describe('an age that grows', () => {
  const lane = (oldestSeconds: number, more: object = {}): LaneFigures =>
    ({
      counts: { lane: 'mail', high: 0, normal: 3, low: 0, workers: 1 },
      fn: 'mail',
      queue: 'default',
      oldestSeconds,
      isPaused: false,
      ...more,
    }) as unknown as LaneFigures

  test('is one that grows with the time, over a minute and more', async () => {
    const ages = new GrowingAges()
    expect(await ages.look([lane(100)], 0)).toEqual([])
    expect(await ages.look([lane(130)], 30_000)).toEqual([])
    expect(await ages.look([lane(160)], 60_000)).toMatchObject([
      { moreSeconds: 60, withinSeconds: 60 },
    ])
    // Jobs are taken.
    expect(await ages.look([lane(110)], 90_000)).toEqual([])
  })

  test('is none where nobody could take the jobs, or they wait shortly', async () => {
    for (const more of [{ isPaused: true }, { counts: { ...lane(0).counts, workers: 0 } }]) {
      const ages = new GrowingAges()
      await ages.look([lane(100, more)], 0)
      expect(await ages.look([lane(160, more)], 60_000)).toEqual([])
    }
    const ages = new GrowingAges()
    await ages.look([lane(1)], 0)
    expect(await ages.look([lane(50)], 60_000)).toEqual([])
  })

  test('is looked for anew when the clock was set back', async () => {
    const ages = new GrowingAges()
    await ages.look([lane(100)], 1_000_000)
    expect(await ages.look([lane(100)], 500_000)).toEqual([])
    expect(await ages.look([lane(160)], 560_000)).toHaveLength(1)
  })
})
