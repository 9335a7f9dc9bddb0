import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { GearMonkeyClient } from '../../src/index.ts'
import { Line } from './support/line.ts'
import { record } from './support/monitor.ts'

describe.skipIf(lacksRedis)('with redis-server, several jobs submitted at once', () => {
  let redis: RedisServer
  let control: Redis
  let client: GearMonkeyClient

  beforeEach(async () => {
    redis = await RedisServer.start()
    control = redis.connect()
    await control.ping()
    client = new GearMonkeyClient(control)
  })

  afterEach(() => redis.stop())

  const inputs = Array.from({ length: 250 }, (_item, i) => `${i + 1}`)

  test('are stored, announced and queued as if submitted one by one, in a few calls', async () => {
    const events: string[] = []
    const listener = redis.connect()
    listener.on('message', (_channel, event: string) => events.push(event))
    await listener.subscribe('channel:mail')
    const recording = await record(redis.connect())
    const ids = await client.runMany('mail', inputs, { priority: 'low' })
    const calls = await recording.more()
    recording.stop()
    expect(calls.filter((call) => call.startsWith('EVALSHA'))).toHaveLength(4) // one without the script
    expect(calls).toHaveLength(5)
    expect(ids.map(String)).toEqual(inputs)
    expect(await control.get('uid:mail')).toBe('250')
    expect(await control.lrange('queue:mail:low', 0, -1)).toEqual(inputs.toReversed())
    for (const id of [1, 100, 101, 250])
      expect(await control.hgetall(`job:mail:${id}`)).toEqual({ status: 'idle', input: `${id}` })
    await expect.poll(() => events).toEqual(inputs.map((id) => `create:${id}`))
  })

  test('may be scheduled', async () => {
    await client.runMany('mail', ['a', 'b'], { scheduledFor: 1_700_000_000 })
    const scheduled = await control.zrange('queue:mail:scheduled', 0, '-1', 'WITHSCORES')
    expect(scheduled).toEqual(['1', '1700000000', '2', '1700000000'])
  })

  test('by calls of one turn get each its own id', async () => {
    const ids = await Promise.all(inputs.map((input) => client.run('mail', input)))
    for (const [at, id] of ids.entries())
      expect(await control.hget(`job:mail:${id}`, 'input')).toBe(inputs[at])
    expect(new Set(ids).size).toBe(250)
  })

  test('by calls of one turn go together, though other callbacks run between them', async () => {
    await client.runMany('mail', ['the script', 'is loaded'])
    const recording = await record(redis.connect())
    const runs: Promise<number>[] = []
    for (const input of ['a', 'b', 'c']) {
      runs.push(client.run('mail', input))
      await new Promise<void>((resolve) => process.nextTick(resolve))
    }
    expect(await Promise.all(runs)).toEqual([3, 4, 5])
    const calls = await recording.more()
    recording.stop()
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatch(/^EVALSHA .* a b c$/)
  })

  test('are bytes of any length', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_item, i) => i))
    const long = Buffer.alloc(300_000, bytes)
    const many = [bytes, '', long, bytes, 'ü', ...Array<Buffer>(3).fill(long.subarray(0, 200_000))]
    const ids = await client.runMany('mail', many)
    expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    for (const [at, id] of ids.entries()) {
      const stored = (await client.get('mail', id))?.input
      expect(stored?.equals(Buffer.from(many[at] ?? ''))).toBe(true)
    }
  })

  test('are submitted by a user without permission for scripts, or for their commands', async () => {
    for (const forbidden of ['-evalsha', '-@scripting', '-script']) {
      const rules = ['on', '>word', '~*', '&*', '+@all', forbidden]
      await control.call('ACL', 'SETUSER', 'sender', 'reset', ...rules)
      await control.script('FLUSH')
      const restricted = redis.connect({ username: 'sender', password: 'word' })
      await restricted.ping()
      const own = new GearMonkeyClient(restricted)
      const before = await control.llen('queue:mail:normal')
      await own.runMany('mail', ['a', 'b', 'c'])
      await Promise.all(['d', 'e'].map((input) => own.run('mail', input)))
      expect(await control.llen('queue:mail:normal')).toBe(before + 5)
    }
  })

  test('fail if the queue key has another type, with the ids of the jobs that exist', async () => {
    await control.set('job:mail:3', 'no hash')
    const four = ['a', 'b', 'c', 'd']
    await expect(client.runMany('mail', four)).rejects.toMatchObject({
      code: 'SUBMIT_FAILED',
      ids: [1, 2],
    })
    expect(await control.lrange('queue:mail:normal', 0, -1)).toEqual(['2', '1'])
    await control.set('job:mail:5', 'no hash')
    const results = await Promise.allSettled(four.map((input) => client.run('mail', input)))
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    await control.set('uid:odd', 'no number')
    await expect(client.runMany('odd', four)).rejects.toMatchObject({ code: 'NO_ID' })
  })

  test.each(['9007199254740991', '9007199254740990', '-9'])(
    'fail if the counter of ids, %s, gives none that a number can be',
    async (last) => {
      await control.set('uid:mail', last)
      await expect(client.runMany('mail', ['a', 'b', 'c'])).rejects.toMatchObject({
        name: 'GearMonkeyError',
      })
      const stored = await control.keys('job:mail:*')
      expect(stored).toEqual(last.endsWith('0') ? ['job:mail:9007199254740991'] : [])
    },
  )

  test('are not sent twice where the answer is lost', async () => {
    const port = await freePort()
    const line = new Line()
    await line.open(port, redis.path)
    onTestFinished(() => line.close())
    await client.runMany('mail', ['a', 'b']) // the server has the script now
    const own = new GearMonkeyClient(`redis://127.0.0.1:${port}`)
    onTestFinished(() => own.close())
    await own.get('mail', 1)
    line.cutAfter = 'EVALSHA'
    const lost = await Promise.allSettled(['c', 'd', 'e'].map((input) => own.run('mail', input)))
    expect(line.cutAfter).toBeUndefined()
    for (const one of lost) expect(one).toMatchObject({ reason: { code: 'SUBMIT_FAILED' } })
    expect(await control.llen('queue:mail:normal')).toBe(5)
  })
})
