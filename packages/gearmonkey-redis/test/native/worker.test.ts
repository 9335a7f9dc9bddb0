import { describe, expect, test } from 'vitest'
import { GearMonkeyClient, GearMonkeyWorker } from '../../src/index.ts'
import type { GearMonkeyError, Job, JobRecord } from '../../src/index.ts'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'

/** Something that a test waits for. */
function gate<T = void>(): { open: (value: T) => void; opened: Promise<T> } {
  let open: (value: T) => void = () => undefined
  const opened = new Promise<T>((resolve) => (open = resolve))
  return { open, opened }
}

describe.skipIf(lacksRedis)('with redis-server, a worker', () => {
  let redis: RedisServer
  let client: GearMonkeyClient

  withRedisServer((server) => {
    redis = server
    client = new GearMonkeyClient(redis.connect())
  })

  test('takes due jobs first, then high, normal and low, each first in first out', async () => {
    await client.runMany('order', ['low 1', 'low 2'], { priority: 'low' })
    await client.runMany('order', ['normal 1', 'normal 2'])
    await client.runMany('order', ['high 1', 'high 2'], { priority: 'high' })
    await client.run('order', 'due later', { scheduledFor: 200 })
    await client.run('order', 'due first', { scheduledFor: 100 })
    await client.run('order', 'not due', { scheduledFor: 201 })
    const seen: string[] = []
    const all = gate()
    const worker = new GearMonkeyWorker(redis.url, { nowSeconds: () => 200 })
    await worker.accept('order', ({ input }) => {
      seen.push(input.toString())
      if (seen.length === 8) all.open()
    })
    await all.opened
    await worker.stop()
    const lists = ['high 1', 'high 2', 'normal 1', 'normal 2', 'low 1', 'low 2']
    expect(seen).toEqual(['due first', 'due later', ...lists])
    expect(await redis.connect().zcard('queue:order:scheduled')).toBe(1)
  })

  test('shows progress while it works, and not after', async () => {
    const job = gate<Job>()
    const end = gate()
    const worker = new GearMonkeyWorker(redis.url)
    await worker.accept('steps', async (one) => {
      await one.update(3, 10)
      job.open(one)
      await end.opened
    })
    const id = await client.run('steps', '')
    const one = await job.opened
    const expected: Partial<JobRecord> = { status: 'busy', progress: { dividend: 3, divisor: 10 } }
    expect(await client.get('steps', id)).toMatchObject(expected)
    await expect(one.update(NaN, 1)).rejects.toMatchObject({ code: 'BAD_ARGUMENT' })
    end.open()
    await worker.stop()
    await expect(one.update(4, 10)).rejects.toMatchObject({ code: 'JOB_OVER' })
    expect((await client.get('steps', id))?.status).toBe('success')
  })

  test('reports an error by its message, and keeps the job for 25 hours', async () => {
    const worker = new GearMonkeyWorker(redis.url)
    await worker.accept('bad', ({ input }) => {
      if (input.length === 0) throw new Error('it is empty')
      // oxlint-disable-next-line typescript/only-throw-error
      throw 'just words'
    })
    await worker.accept('number', () => 5 as unknown as string)
    const outputs: string[] = []
    for (const [fn, input] of [
      ['bad', ''],
      ['bad', 'x'],
      ['number', ''],
    ] as const) {
      const id = await client.run(fn, input, { blocking: true })
      const job = await client.get(fn, id)
      expect(job?.status).toBe('error')
      outputs.push(String(job?.output))
    }
    expect(outputs.slice(0, 2)).toEqual(['it is empty', 'just words'])
    expect(outputs[2]).toContain('a payload is')
    const control = redis.connect()
    expect(await control.ttl('job:bad:1')).toBeGreaterThan(89_990)
    expect(await control.ttl('lock:bad:2')).toBeLessThanOrEqual(10)
    await worker.stop()
  })

  test('does as many jobs at once as its concurrency, and no more', async () => {
    const full = gate()
    const end = gate()
    let running = 0
    let max = 0
    const worker = new GearMonkeyWorker(redis.url, { concurrency: 3 })
    await worker.accept('many', async () => {
      running += 1
      max = Math.max(max, running)
      if (running === 3) full.open()
      await end.opened
      running -= 1
    })
    await client.runMany('many', Array<string>(10).fill(''))
    await full.opened
    const control = redis.connect()
    expect(await control.llen('queue:many:normal')).toBe(7)
    end.open()
    await client.run('many', '', { priority: 'low', blocking: true })
    await worker.stop()
    expect(max).toBe(3)
  })

  test('waits on one connection, however many jobs come and run at once', async () => {
    const control = redis.connect()
    const connections = async (): Promise<number> =>
      String(await control.client('LIST')).split('\n').length
    const before = await connections()
    for (const concurrency of [1, 16]) {
      let left = 100
      const all = gate()
      const worker = new GearMonkeyWorker(redis.url, { concurrency })
      await worker.accept('fleet', () => {
        left -= 1
        if (left === 0) all.open()
      })
      await client.runMany('fleet', Array<string>(100).fill(''))
      await all.opened
      await expect.poll(connections).toBe(before + 2)
      await worker.stop()
      await expect.poll(connections).toBe(before)
    }
  })

  test('finishes its running jobs when it is stopped, and is counted no more', async () => {
    const begun = gate()
    const end = gate()
    const worker = new GearMonkeyWorker(redis.url)
    await worker.accept('long', async () => {
      begun.open()
      await end.opened
      return 'done'
    })
    const control = redis.connect()
    expect(await control.get('count:long')).toBe('1')
    const [first = 0] = await client.runMany('long', ['', ''])
    await begun.opened
    const stopped = worker.stop()
    await expect(worker.accept('other', () => '')).rejects.toMatchObject({ code: 'STOPPED' })
    end.open()
    await stopped
    await worker.stop()
    expect((await client.get('long', first))?.output).toEqual(Buffer.from('done'))
    expect(await control.get('count:long')).toBe('0')
    expect(await control.llen('queue:long:normal')).toBe(1)
  })

  test('aborts the signal of a job that outlasts the stop', async () => {
    const begun = gate()
    const worker = new GearMonkeyWorker(redis.url)
    await worker.accept('endless', async ({ signal }) => {
      begun.open()
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('cut short')))
      })
    })
    const id = await client.run('endless', '')
    await begun.opened
    await worker.stop({ abortAfterSeconds: 0 })
    expect((await client.get('endless', id))?.output).toEqual(Buffer.from('cut short'))
  })

  test('loads the script again when the server has lost it', async () => {
    const control = redis.connect()
    const worker = new GearMonkeyWorker(redis.url)
    await worker.accept('flush', () => 'still here')
    await control.script('FLUSH')
    const id = await client.run('flush', '', { scheduledFor: 1, blocking: true })
    expect((await client.get('flush', id))?.output).toEqual(Buffer.from('still here'))
    await worker.stop()
  })

  test('continues when its connections are lost', async () => {
    const errors: GearMonkeyError[] = []
    const control = redis.connect()
    const own = new GearMonkeyClient(redis.connect())
    const worker = new GearMonkeyWorker(redis.url, { onError: (error) => errors.push(error) })
    await worker.accept('again', async () => {
      await control.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      return 'survived'
    })
    const id = await own.run('again', '', { blocking: true })
    expect((await own.get('again', id))?.output).toEqual(Buffer.from('survived'))
    await worker.stop()
    expect(await control.get('count:again')).toBe('0')
  })

  test('drops invalid ids, and fails a job without input', async () => {
    const errors: string[] = []
    const control = redis.connect()
    await control.rpush('queue:junk:high', 'abc')
    await control.rpush('queue:junk:normal', '77')
    const worker = new GearMonkeyWorker(redis.url, { onError: ({ code }) => errors.push(code) })
    await worker.accept('junk', () => 'fine')
    const id = await client.run('junk', '', { priority: 'low', blocking: true })
    expect((await client.get('junk', id))?.status).toBe('success')
    expect(String((await client.get('junk', 77))?.output)).toBe('the job has no input')
    expect(errors).toEqual(['BAD_ID'])
    await worker.stop()
  })

  test('accepts several functions, each once', async () => {
    const worker = new GearMonkeyWorker(redis.url)
    await Promise.all(['one', 'two'].map((fn) => worker.accept(fn, () => fn)))
    await expect(worker.accept('one', () => '')).rejects.toMatchObject({ code: 'ALREADY_ACCEPTED' })
    for (const fn of ['two', 'one']) {
      const id = await client.run(fn, '', { blocking: true, rollCall: true })
      expect((await client.get(fn, id))?.output).toEqual(Buffer.from(fn))
    }
    await worker.stop()
  })

  test('stops although the server is away', async () => {
    const errors = new Set<string>()
    const other = await RedisServer.start()
    const begun = gate()
    const end = gate()
    const worker = new GearMonkeyWorker(other.url, { onError: ({ code }) => errors.add(code) })
    await worker.accept('orphan', async () => {
      begun.open()
      await end.opened
    })
    const submitter = new GearMonkeyClient(other.url)
    await submitter.run('orphan', '')
    submitter.close()
    await begun.opened
    await other.stop()
    end.open()
    await worker.stop()
    expect(errors).toContain('CONNECTION')
    expect(errors).toContain('OUTCOME_LOST')
  })

  test('refuses a concurrency of 0', () => {
    expect(() => new GearMonkeyWorker(redis.url, { concurrency: 0 })).toThrow(/concurrency/)
  })
})
