import { describe, expect, test } from 'vitest'
import { GearMonkeyClient, GearMonkeyWorker, type GearMonkeyError } from '../../src/index.ts'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'

/** The error that a call ends with. */
async function errorOf(call: Promise<unknown>): Promise<GearMonkeyError> {
  return call.then(
    () => Promise.reject(new Error('the call did not fail')),
    (error: unknown) => error as GearMonkeyError,
  )
}

describe.skipIf(lacksRedis)('with redis-server, a client', () => {
  let redis: RedisServer
  let client: GearMonkeyClient

  withRedisServer((server) => {
    redis = server
    client = new GearMonkeyClient(redis.connect())
  })

  test('gets every byte value back unchanged', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_item, i) => i))
    const worker = new GearMonkeyWorker(redis.url)
    await worker.accept('turn', ({ input }) => Buffer.from(input).reverse())
    const id = await client.run('turn', bytes, { blocking: true, timeoutSeconds: 5 })
    const job = await client.get('turn', id)
    expect(job?.input).toEqual(bytes)
    expect(job?.output).toEqual(Buffer.from(bytes).reverse())
    const part = new Uint8Array(bytes.buffer, bytes.byteOffset + 7, 3)
    const other = await client.run('turn', part)
    expect((await client.get('turn', other))?.input).toEqual(Buffer.from([7, 8, 9]))
    await worker.stop()
  })

  test('fails a roll call without workers, and creates no job', async () => {
    const control = redis.connect()
    for (const count of [undefined, '0', '-1', 'many', '1.5']) {
      if (count === undefined) await control.del('count:lonely')
      else await control.set('count:lonely', count)
      const error = await errorOf(client.run('lonely', '', { rollCall: true }))
      expect(error.code).toBe('NO_WORKERS')
    }
    expect(await control.exists('uid:lonely')).toBe(0)
    await control.set('count:lonely', '3')
    await expect(client.run('lonely', '', { rollCall: true })).resolves.toBe(1)
  })

  test('returns from a blocking call when the job failed', async () => {
    const worker = new GearMonkeyWorker(redis.url)
    await worker.accept('fail', () => Promise.reject(new Error('no paper')))
    const id = await client.run('fail', '', { blocking: true })
    const job = await client.get('fail', id)
    expect(job).toMatchObject({ status: 'error', output: Buffer.from('no paper') })
    await worker.stop()
  })

  test('gives up a blocking call after its timeout, and names the job', async () => {
    const error = await errorOf(client.run('slow', 'x', { blocking: true, timeoutSeconds: 1 }))
    expect(error.code).toBe('BLOCKING_TIMEOUT')
    expect(error.ids).toEqual([1])
    expect((await client.get('slow', 1))?.status).toBe('idle')
  })

  test('blocks many calls at once without holding up the others', async () => {
    const calls = Array.from({ length: 6 }, () => client.run('wide', '', { blocking: true }))
    const worker = new GearMonkeyWorker(redis.url)
    let started = 0
    let release: () => void = () => undefined
    const all = new Promise<void>((resolve) => (release = resolve))
    await worker.accept(
      'wide',
      () => {
        started += 1
        if (started === calls.length) release()
        return all
      },
      { concurrency: calls.length },
    )
    const ids = await Promise.all(calls)
    expect(ids.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6])
    await worker.stop()
  })

  test('gets a job that finished while its blocked connection was lost', async () => {
    const control = redis.connect()
    const call = client.run('cut', 'x', { blocking: true })
    const worker = new GearMonkeyWorker(redis.url)
    await worker.accept('cut', async () => {
      const clients = String(await control.client('LIST'))
      const blocked = clients.split('\n').find((line) => / cmd=brpop /.test(line + ' '))
      const id = /^id=(\d+)/.exec(blocked ?? '')?.[1]
      // The worker's own BRPOP is not pending while its one job runs.
      await control.client('KILL', 'ID', id ?? '0')
    })
    await expect(call).resolves.toBe(1)
    await worker.stop()
  })

  test('submits many jobs in order', async () => {
    const control = redis.connect()
    const ids = await client.runMany('batch', ['a', 'b', Buffer.from([0, 255])], {
      priority: 'high',
    })
    expect(ids).toEqual([1, 2, 3])
    expect(await control.lrange('queue:batch:high', 0, -1)).toEqual(['3', '2', '1'])
    expect((await client.get('batch', 3))?.input).toEqual(Buffer.from([0, 255]))
    await expect(client.runMany('batch', [])).resolves.toEqual([])
  })

  test('rounds a Date up, so that a job is not early', async () => {
    const control = redis.connect()
    await client.run('later', '', { scheduledFor: new Date(1_700_000_000_001) })
    expect(await control.zscore('queue:later:scheduled', '1')).toBe('1700000001')
  })

  test('throws when there is no id, and when a job could not be queued', async () => {
    const control = redis.connect()
    await control.set('uid:odd', 'no number')
    expect((await errorOf(client.run('odd', ''))).code).toBe('NO_ID')
    await control.set('queue:jam:normal', 'no list')
    const error = await errorOf(client.run('jam', ''))
    expect([error.code, error.ids]).toEqual(['SUBMIT_FAILED', []])
    expect(error.cause).toMatchObject({ message: expect.stringContaining('WRONGTYPE') })
    await control.set('job:jam:5', 'no hash')
    expect((await errorOf(client.get('jam', 5))).code).toBe('READ_FAILED')
  })

  test('reads unknown fields, and nothing of a job that does not exist', async () => {
    const control = redis.connect()
    await control.hset('job:read:9', { status: 'odd', colour: 'red', 'status:dividend': '3' })
    const job = await client.get('read', 9)
    expect(job).toMatchObject({ status: undefined, output: undefined, progress: undefined })
    expect(job?.fields.get('colour')).toEqual(Buffer.from('red'))
    expect(await client.get('read', 10)).toBeUndefined()
  })

  test('reads a job over a connection that maps replies to objects', async () => {
    const mapping = { protocol: 3, replyMapping: 'resp3' } as const
    const mapped = redis.connect(mapping)
    const other = new GearMonkeyClient(mapped)
    const id = await other.run('mapped', 'x')
    expect(await other.get('mapped', id)).toMatchObject({ status: 'idle', input: Buffer.from('x') })
  })

  const refused: readonly (readonly [string, string, unknown, object])[] = [
    ['an empty name', '', '', {}],
    ['a priority that is none', 'f', '', { priority: 'urgent' }],
    ['a priority on a scheduled job', 'f', '', { priority: 'low', scheduledFor: 1 }],
    ['half a second', 'f', '', { blocking: true, timeoutSeconds: 0.5 }],
    ['a timeout of a call that does not block', 'f', '', { timeoutSeconds: 5 }],
    ['a date that is none', 'f', '', { scheduledFor: new Date('never') }],
    ['a payload that is no bytes', 'f', 5, {}],
  ]

  test.each(refused)('refuses %s', async (_what, fn, input, options) => {
    const error = await errorOf(client.run(fn, input as string, options))
    expect(error.code).toBe('BAD_ARGUMENT')
  })

  test.each(['unix', 'path', 'redis'])('connects by URL: %s', async (kind) => {
    const urls = { unix: `unix://${redis.path}?db=0`, path: redis.path, redis: redis.url }
    const own = new GearMonkeyClient(urls[kind as keyof typeof urls])
    await expect(own.run('url', kind, {})).resolves.toBeGreaterThan(0)
    own.close()
    expect((await errorOf(own.run('url', kind, { blocking: true }))).code).toBe('STOPPED')
  })

  test('refuses a URL of another kind', () => {
    expect(() => new GearMonkeyClient('http://127.0.0.1')).toThrow(/URL/)
  })

  test('fails in a few seconds when there is no server', async () => {
    const own = new GearMonkeyClient('unix:///nowhere/redis.sock')
    expect((await errorOf(own.run('f', ''))).code).toBe('NO_ID')
    own.close()
  })
})
