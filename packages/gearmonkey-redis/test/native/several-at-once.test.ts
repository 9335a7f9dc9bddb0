import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { GearMonkeyClient, GearMonkeyWorker } from '../../src/index.ts'
import type { GearMonkeyServer, JobHandler, WorkerOptions } from '../../src/index.ts'
import { Line } from './support/line.ts'

describe.skipIf(lacksRedis)('with redis-server, a worker of several jobs at once', () => {
  let redis: RedisServer
  let control: Redis
  let client: GearMonkeyClient

  beforeEach(async () => {
    redis = await RedisServer.start()
    control = redis.connect()
    client = new GearMonkeyClient(control)
  })

  afterEach(() => redis.stop())

  /** Works until so many jobs were begun, then stops. */
  async function work(
    many: number,
    handler: JobHandler,
    options: WorkerOptions = {},
    server: GearMonkeyServer = redis.url,
  ): Promise<void> {
    let left = many
    let finish: () => void = () => undefined
    const all = new Promise<void>((resolve) => (finish = resolve))
    const worker = new GearMonkeyWorker(server, { concurrency: 16, ...options })
    await worker.accept('mail', (job) => {
      left -= 1
      if (left === 0) finish()
      return handler(job)
    })
    await all
    await worker.stop()
  }

  const echo: JobHandler = ({ input }) => input

  test('begins due jobs first, then high, normal and low, each first in first out', async () => {
    await client.runMany('mail', ['low 1', 'low 2'], { priority: 'low' })
    await client.runMany('mail', ['normal 1', 'normal 2'])
    await client.runMany('mail', ['high 1', 'high 2'], { priority: 'high' })
    await client.run('mail', 'due later', { scheduledFor: 200 })
    await client.run('mail', 'due first', { scheduledFor: 100 })
    await client.run('mail', 'not due', { scheduledFor: 201 })
    for (const concurrency of [16, 3]) {
      const seen: string[] = []
      const handler: JobHandler = ({ input }) => void seen.push(input.toString())
      await work(8, handler, { concurrency, nowSeconds: () => 200 })
      const lists = ['high 1', 'high 2', 'normal 1', 'normal 2', 'low 1', 'low 2']
      expect(seen).toEqual(['due first', 'due later', ...lists])
      expect(await control.zrange('queue:mail:scheduled', 0, '-1')).toEqual(['9'])
      await control.lpush('queue:mail:low', 1, 2)
      await control.lpush('queue:mail:normal', 3, 4)
      await control.lpush('queue:mail:high', 5, 6)
      await control.zadd('queue:mail:scheduled', 200, '7', 100, '8')
    }
  })

  test('leaves and announces exactly what the specification says', async () => {
    const events: string[] = []
    const listener = redis.connect()
    listener.on('message', (_channel, event: string) => events.push(event))
    await listener.subscribe('channel:mail')
    const ids = await client.runMany('mail', ['a', 'b', 'fail', 'd', 'e'])
    await work(5, ({ input, id }) => {
      if (input.toString() === 'fail') throw new Error('as asked')
      return `${id}`
    })
    await expect.poll(() => events).toHaveLength(15)
    for (const id of ids) {
      const isBad = id === 3
      expect(await control.hgetall(`job:mail:${id}`)).toEqual({
        status: isBad ? 'error' : 'success',
        input: ['a', 'b', 'fail', 'd', 'e'][id - 1],
        output: isBad ? 'as asked' : `${id}`,
      })
      expect(await control.ttl(`job:mail:${id}`)).toBeGreaterThan(89_900)
      expect(await control.lrange(`lock:mail:${id}`, 0, -1)).toEqual(['OK'])
      expect(await control.ttl(`lock:mail:${id}`)).toBeGreaterThan(0)
      const own = events.filter((event) => event.endsWith(`:${id}`))
      expect(own).toEqual([`create:${id}`, `start:${id}`, `finish:${id}`])
    }
    const jobs = ids.flatMap((id) => [`job:mail:${id}`, `lock:mail:${id}`])
    expect((await control.keys('*')).toSorted()).toEqual(
      ['count:mail', 'uid:mail', ...jobs].toSorted(),
    )
  })

  test('does each job once although the answers of claims are lost', async () => {
    const port = await freePort()
    const line = new Line()
    await line.open(port, redis.path)
    onTestFinished(() => line.close())
    const inputs = Array.from({ length: 400 }, (_item, i) => `${i}`)
    await client.runMany('mail', inputs)
    const seen: string[] = []
    // The first call of all says only that the server has no such script.
    const handler: JobHandler = ({ input }) => {
      if (seen.push(input.toString()) % 50 === 1) line.cutAfter = 'lock:mail:worker-'
    }
    await work(400, handler, { onError: () => undefined }, `redis://127.0.0.1:${port}`)
    expect(line.cutAfter).toBeUndefined()
    expect(seen.toSorted()).toEqual(inputs.toSorted())
    expect(line.cuts).toBe(8)
  })

  test.each([2, 8, 17])('holds at most %i jobs at any moment', async (concurrency) => {
    let held = 0
    let max = 0
    let finished = 0
    const listener = redis.connect()
    listener.on('message', (_channel, event: string) => {
      if (event.startsWith('start')) held += 1
      if (event.startsWith('finish')) {
        held -= 1
        finished += 1
      }
      max = Math.max(max, held)
    })
    await listener.subscribe('channel:mail')
    const chains = 2 * concurrency
    const links = 40
    await client.runMany('mail', Array<string>(chains).fill('1'))
    // Some end at once, some later, and each brings the next one: the queue is often empty.
    const handler: JobHandler = async ({ id, input }) => {
      for (let turns = id % 5; turns > 0; turns--) await setImmediate()
      const link = Number(input)
      if (link < links) await client.run('mail', `${link + 1}`)
    }
    await work(chains * links, handler, { concurrency })
    await expect.poll(() => finished).toBe(chains * links)
    expect(held).toBe(0)
    expect(max).toBeLessThanOrEqual(concurrency)
  })

  test('has only its running jobs when it is killed, and another worker does the rest', async () => {
    const inputs = Array.from({ length: 20 }, () => 'hang')
    const ids = await client.runMany('mail', inputs)
    const file = fileURLToPath(new URL('support/library-worker.ts', import.meta.url))
    const victim = spawn(
      process.execPath,
      ['--conditions=@crossgear/source', '--import', 'tsx', file],
      {
        env: {
          ...process.env,
          GEARMONKEY_REDIS_URL: redis.url,
          GEARMONKEY_FN: 'mail',
          GEARMONKEY_CONCURRENCY: '4',
        },
        stdio: 'inherit',
      },
    )
    const statuses = (): Promise<(string | null)[]> =>
      Promise.all(ids.map((id) => control.hget(`job:mail:${id}`, 'status')))
    await expect.poll(statuses).toContain('busy')
    victim.kill('SIGKILL')
    await once(victim, 'exit')
    const busy = (await statuses()).filter((status) => status === 'busy').length
    expect(busy).toBeLessThanOrEqual(4)
    expect(await control.llen('queue:mail:normal')).toBe(20 - busy)
    const seen: number[] = []
    await work(20 - busy, ({ id }) => void seen.push(id))
    expect(seen).toEqual(ids.slice(busy))
  })

  test('finds the jobs of a connection with a prefix for all keys', async () => {
    const prefixed = redis.connect({ keyPrefix: 'mine:' })
    const own = new GearMonkeyClient(prefixed)
    const ids = await own.runMany('mail', ['a', 'b', 'c'])
    await work(3, echo, {}, prefixed)
    for (const id of ids)
      expect(await control.hget(`mine:job:mail:${id}`, 'status')).toBe('success')
    expect(await control.keys('job:*')).toEqual([])
  })

  test('works if its user may not run the commands of its script', async () => {
    await control.call('ACL', 'SETUSER', 'mailer', 'on', '>word', '~*', '&*', '+@all', '-lrange')
    const inputs = Array.from({ length: 30 }, (_item, i) => `${i}`)
    const ids = await client.runMany('mail', inputs)
    const url = redis.url.replace('redis://', 'redis://mailer:word@')
    await work(30, echo, {}, url)
    for (const id of ids) expect((await client.get('mail', id))?.status).toBe('success')
  })

  test('works if its user may not write the note of its claims', async () => {
    const keys = ['~job:*', '~queue:*', '~count:*', ...[1, 2, 3, 4].map((id) => `~lock:mail:${id}`)]
    await control.call('ACL', 'SETUSER', 'mailer', 'on', '>word', ...keys, '&*', '+@all')
    await client.runMany('mail', ['a', 'b', 'c', 'd'])
    const url = redis.url.replace('redis://', 'redis://mailer:word@')
    await work(4, echo, {}, url)
    expect((await client.get('mail', 4))?.status).toBe('success')
    expect(await control.get('count:mail')).toBe('0')
  })

  test('drops invalid ids, and lets a job that cannot begin delay no other', async () => {
    const ids = await client.runMany('mail', ['a', 'b'])
    await control.set('job:mail:77', 'no hash')
    await control.rpush('queue:mail:normal', 'abc', '77')
    await control.lpush('queue:mail:high', ids[0] ?? 0, '12 x')
    await control.lrem('queue:mail:normal', 1, ids[0] ?? 0)
    const codes = new Set<string>()
    await work(2, echo, { onError: ({ code }) => codes.add(code) })
    for (const id of ids) expect((await client.get('mail', id))?.status).toBe('success')
    expect([...codes].toSorted()).toEqual(['BAD_ID', 'OUTCOME_LOST', 'REPORT_FAILED'])
    expect(await control.keys('job:mail:*')).toHaveLength(3)
  })

  test('reads long inputs and writes long outputs', async () => {
    const long = Buffer.alloc(300_000, 'abc')
    const ids = await client.runMany('mail', [long, 'short', long])
    await work(3, ({ input }) => Buffer.concat([input, input]))
    const outputs = await Promise.all(ids.map(async (id) => (await client.get('mail', id))?.output))
    expect(outputs.map((output) => output?.length)).toEqual([600_000, 10, 600_000])
    expect(outputs[2]?.equals(Buffer.concat([long, long]))).toBe(true)
  })

  test.each([1, 3, 16])('goes on after long outputs, %i at once', async (concurrency) => {
    const long = 'y'.repeat(100_000)
    const ids = await client.runMany(
      'mail',
      Array.from({ length: 40 }, (_none, at) => `${at}`),
    )
    await work(40, () => long, { concurrency })
    const outputs = await Promise.all(ids.map((id) => control.hget(`job:mail:${id}`, 'output')))
    expect(outputs.every((output) => output === long)).toBe(true)
  })

  test('shows progress, and aborts signals that are read late', async () => {
    const ids = await client.runMany('mail', ['a', 'b'])
    const worker = new GearMonkeyWorker(redis.url, { concurrency: 4 })
    let begun = 0
    let tell: () => void = () => undefined
    const both = new Promise<void>((resolve) => (tell = resolve))
    await worker.accept('mail', async (job) => {
      begun += 1
      if (begun === 2) tell()
      await job.update(1, 2)
      await both
      await expect.poll(() => job.signal.aborted).toBe(true)
      return 'aborted'
    })
    await both
    await worker.stop({ abortAfterSeconds: 0 })
    for (const id of ids) {
      const job = await client.get('mail', id)
      expect(job?.progress).toEqual({ dividend: 1, divisor: 2 })
      expect(String(job?.output)).toBe('aborted')
    }
  })
})
