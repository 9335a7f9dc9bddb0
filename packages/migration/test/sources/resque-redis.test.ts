import { once } from 'node:events'
import { RedisServer, lacksRedis } from '@crossgear/tools/redis-server'
import { Queue, Worker } from 'node-resque'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openSource } from '../../src/sources/open-source.ts'
import { TestTarget } from '../support/target.ts'

const later = 2_000_000_000

// Debian has no Resque: node-resque writes and reads the same structures.
describe.skipIf(lacksRedis)('needs redis-server: what node-resque wrote', () => {
  let server: RedisServer
  let target: TestTarget
  let address: string

  beforeAll(async () => {
    ;[server, target] = await Promise.all([RedisServer.start(), TestTarget.open()])
    address = `resque+redis://127.0.0.1:${server.port}`
  })
  afterAll(() => Promise.all([server.stop(), target.close()]))
  beforeEach(async () => {
    await server.ask('FLUSHALL')
    await fill()
  })
  afterEach(async () => {
    expect(await target.violations()).toEqual([])
    await target.clear()
  })

  const connection = () => ({ host: '127.0.0.1', port: server.port, database: 0 })

  /** 40 jobs in two queues, five of them the same, three that are due later and one that failed. */
  async function fill(): Promise<void> {
    const queue = new Queue({ connection: connection() })
    await queue.connect()
    await queue.enqueue('default', 'Broken', ['x'])
    await workOff('default')
    for (let at = 0; at < 35; at += 1) {
      await queue.enqueue(at % 2 === 0 ? 'default' : 'bulk', at % 3 === 0 ? 'Mail' : 'Report', [at])
    }
    for (let at = 0; at < 5; at += 1) await queue.enqueue('bulk', 'Same', [{ a: 1.5 }, 'ü'])
    await queue.enqueueAt(later * 1000, 'default', 'Mail', ['later'])
    await queue.enqueueAt(later * 1000, 'bulk', 'Mail', ['later too'])
    await queue.enqueueAt((later + 1) * 1000, 'bulk', 'Mail', [])
    await queue.end()
  }

  /** Runs a real worker until a queue is empty; the arguments of what it ran. */
  async function workOff(queue: string): Promise<unknown[]> {
    const ran: unknown[] = []
    const perform = (...args: unknown[]) => {
      ran.push(args)
      return Promise.resolve()
    }
    const Broken = { perform: () => Promise.reject(new TypeError('no route')) }
    const jobs = {
      Broken,
      ...Object.fromEntries(['Mail', 'Report', 'Same'].map((name) => [name, { perform }])),
    }
    const worker = new Worker({ connection: connection(), queues: [queue], timeout: 5 }, jobs)
    await worker.connect()
    const idle = once(worker, 'pause')
    await worker.start()
    await idle
    await worker.end()
    return ran
  }

  const open = (isMove = false, from = address) => openSource(from, { isMove, functions: [] })

  const move = async (isMove: boolean, { from = address, stopAfter = Infinity } = {}) =>
    target.take(await open(isMove, from), { name: 'r', isMove, batch: 3, stopAfter })

  test('jobs of all kinds arrive unchanged, even those with equal text', async () => {
    expect((await move(false)).counts).toMatchObject({ read: 44, created: 44, rejected: 0 })
    const lanes = ['Mail', 'Mail@bulk', 'Report', 'Same@bulk', 'Broken']
    expect(await target.store.lanes.counts(lanes)).toMatchObject([
      { normal: 6, scheduled: 1 },
      { normal: 6, scheduled: 2 },
      { normal: 12 },
      { normal: 5 },
      { dead: 1 },
    ])
    const [same] = await target.jobs('Same@bulk')
    expect(same?.job.input.toString()).toBe('[{"a":1.5},"ü"]')
    expect(same?.job).toMatchObject({ retries: -1, door: 'faktory' })
    const due = (await target.jobs('Mail@bulk')).map(({ dueAtMs }) => dueAtMs)
    expect(due.filter((atMs) => atMs !== undefined)).toEqual([later * 1000, (later + 1) * 1000])
    const [broken] = await target.jobs('Broken')
    expect(JSON.parse(broken?.job.failure ?? '')).toMatchObject({
      message: 'no route',
      errtype: 'TypeError',
      failed_at: expect.stringMatching(/^20.*Z$/) as string,
    })
    expect(await target.verify(await open(), 'r')).toMatchObject({ isEqual: true })
    expect((await move(false)).counts).toMatchObject({ created: 0, known: 44 })
  })

  test.each([
    ['a copy', false],
    ['a move', true],
  ])('%s that is stopped after each page brings every job once', async (_name, isMove) => {
    let created = 0
    for (let pages = 0; ; pages += 1) {
      const { counts, isStopped } = await move(isMove, { stopAfter: 3 })
      created += counts.created
      if (!isStopped) break
      expect(pages).toBeLessThan(20)
    }
    expect(created).toBe(44)
    expect(await target.jobs('Same@bulk')).toHaveLength(5)
  })

  test('consumers get the jobs of a queue in their old order', async () => {
    await move(false)
    const jobs = await target.consumed('default', ['Mail', 'Report'])
    const inputs = jobs.map(({ input }) => input.toString())
    expect(inputs).toEqual(Array.from({ length: 18 }, (_none, at) => `[${2 * at}]`))
  })

  test('a move empties it, and after a rollback a real worker runs the restored jobs', async () => {
    const redis = server.connect()
    const contents = async (): Promise<object> => {
      const lists = [
        'queue:default',
        'queue:bulk',
        'failed',
        `delayed:${later}`,
        `delayed:${later + 1}`,
      ]
      const found = lists.map(async (key) => (await redis.lrange(`resque:${key}`, 0, '-1')).sort())
      const times = await redis.zrange('resque:delayed_queue_schedule', 0, '-1', 'WITHSCORES')
      const noted = (await redis.keys('resque:timestamps:*')).sort()
      return { lists: await Promise.all(found), times, noted }
    }
    const before = await contents()
    redis.disconnect()
    expect((await move(true)).counts).toMatchObject({ removed: 44 })
    expect(await server.ask('ZCARD', 'resque:delayed_queue_schedule')).toBe('0')
    expect(await server.ask('EXISTS', 'resque:queue:default', 'resque:failed')).toBe('0')
    const source = await open(true)
    const restore = source.restore?.bind(source)
    // As if the first rollback had been killed behind each step.
    source.restore = async (records) => {
      await restore?.(records)
      await restore?.(records)
    }
    expect(await target.rollBack(source, 'r')).toMatchObject({ undone: 44, restored: 44 })
    await redis.connect()
    expect(await contents()).toEqual(before)
    redis.disconnect()
    expect(await workOff('bulk')).toHaveLength(22)
  })

  test('the same job, moved, put back and moved again, is not lost', async () => {
    for (let time = 0; time < 2; time += 1) {
      expect((await move(true)).counts).toMatchObject({ created: 44, removed: 44 })
      expect(await target.rollBack(await open(true), 'r')).toMatchObject({ restored: 44 })
      expect(await server.ask('LLEN', 'resque:queue:bulk')).toBe('22')
    }
  })

  // Built by hand, as Resque's Ruby writes them.
  test("a namespace, Ruby's times, retried jobs, and entries that are not jobs", async () => {
    const redis = server.connect()
    await redis.sadd('app:queues', 'q')
    await redis.rpush(
      'app:queue:q',
      '{"class":"A","args":[12345678901234567890]}',
      '{"class":',
      '{"args":[]}',
    )
    const failed =
      '"failed_at":"2024/01/02 03:04:05 UTC","exception":"IOError","error":"gone","backtrace":["a:1"],"queue":"q"'
    await redis.rpush('app:failed', `{${failed},"payload":{"class":"A","args":[]}}`)
    await redis.rpush(
      'app:failed',
      `{${failed},"payload":{"class":"A","args":[]},"retried_at":"2024/01/03"}`,
    )
    redis.disconnect()
    const { counts, rejects } = await move(true, { from: `${address}?namespace=app` })
    expect(counts).toMatchObject({ created: 2, rejected: 3 })
    expect(rejects.map(({ reason, where }) => `${reason} ${where}`)).toEqual([
      'bad_job app:queue:q',
      'bad_job app:queue:q',
      'not_read app:failed',
    ])
    const [queued, dead] = await target.jobs('A@q')
    expect(queued?.job.input.toString()).toBe('[12345678901234567890]')
    expect(JSON.parse(dead?.job.failure ?? '')).toMatchObject({
      failed_at: '2024-01-02T03:04:05Z',
      errtype: 'IOError',
      backtrace: ['a:1'],
    })
    expect(await server.ask('LLEN', 'app:queue:q')).toBe('2')
  })
})
