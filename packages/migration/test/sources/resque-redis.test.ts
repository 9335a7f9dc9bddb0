import { once } from 'node:events'
import { RedisServer } from '@crossgear/tools/redis-server'
import { Queue, Worker } from 'node-resque'
import { expect, test } from 'vitest'
import { migration, sourceContract } from '../support/source-contract.ts'
import type { TestTarget } from '../support/target.ts'

const later = 2_000_000_000

// Debian has no Resque: node-resque writes and reads the same structures.
const connectionTo = (port: number) => ({ host: '127.0.0.1', port, database: 0 })

/** 40 jobs in two queues, five of them the same, three that are due later and one that failed. */
async function fill(port: number): Promise<void> {
  const queue = new Queue({ connection: connectionTo(port) })
  await queue.connect()
  await queue.enqueue('default', 'Broken', ['x'])
  await workOff(port, 'default')
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
async function workOff(port: number, queue: string): Promise<unknown[]> {
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
  const worker = new Worker({ connection: connectionTo(port), queues: [queue], timeout: 5 }, jobs)
  await worker.connect()
  const idle = once(worker, 'pause')
  await worker.start()
  await idle
  await worker.end()
  return ran
}

async function start(target: TestTarget) {
  const server = await RedisServer.start()
  const { port } = server
  return {
    server,
    address: `resque+redis://127.0.0.1:${port}`,
    async refill() {
      await server.ask('FLUSHALL')
      await fill(port)
    },
    async contents() {
      const redis = server.connect()
      const lists = [
        'queue:default',
        'queue:bulk',
        'failed',
        `delayed:${later}`,
        `delayed:${later + 1}`,
      ]
      const found = lists.map(async (key) => (await redis.lrange(`resque:${key}`, 0, '-1')).sort())
      const all = await Promise.all(found)
      const times = await redis.zrange('resque:delayed_queue_schedule', 0, '-1', 'WITHSCORES')
      const noted = (await redis.keys('resque:timestamps:*')).sort()
      redis.disconnect()
      return { lists: all, times, noted }
    },
    async arrived() {
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
    },
    async emptied() {
      expect(await server.ask('ZCARD', 'resque:delayed_queue_schedule')).toBe('0')
      expect(await server.ask('EXISTS', 'resque:queue:default', 'resque:failed')).toBe('0')
    },
    stop: () => server.stop(),
  }
}

sourceContract(
  { name: 'needs redis-server: what node-resque wrote', jobs: 44, batch: 3, start },
  (queue) => {
    test('consumers get the jobs of a queue in their old order', async () => {
      await queue.move(false)
      const jobs = await queue.target.consumed('default', ['Mail', 'Report'])
      const inputs = jobs.map(({ input }) => input.toString())
      expect(inputs).toEqual(Array.from({ length: 18 }, (_none, at) => `[${2 * at}]`))
    })

    test('jobs with equal text are as many as they were', async () => {
      await queue.move(true)
      expect(await queue.target.jobs('Same@bulk')).toHaveLength(5)
    })

    test('after a rollback a real worker runs the restored jobs', async () => {
      await queue.move(true)
      await queue.target.rollBack(await queue.open(true), migration)
      expect(await workOff(queue.fixture.server.port, 'bulk')).toHaveLength(22)
    })

    // Built by hand, as Resque's Ruby writes them.
    test("a namespace, Ruby's times, retried jobs, and entries that are not jobs", async () => {
      const { server, address } = queue.fixture
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
      const { counts, rejects } = await queue.move(true, { from: `${address}?namespace=app` })
      expect(counts).toMatchObject({ created: 2, rejected: 3 })
      expect(rejects.map(({ reason, where }) => `${reason} ${where}`)).toEqual([
        'bad_job app:queue:q',
        'bad_job app:queue:q',
        'not_read app:failed',
      ])
      const [queued, dead] = await queue.target.jobs('A@q')
      expect(queued?.job.input.toString()).toBe('[12345678901234567890]')
      expect(JSON.parse(dead?.job.failure ?? '')).toMatchObject({
        failed_at: '2024-01-02T03:04:05Z',
        errtype: 'IOError',
        backtrace: ['a:1'],
      })
      expect(await server.ask('LLEN', 'app:queue:q')).toBe('2')
    })
  },
)
