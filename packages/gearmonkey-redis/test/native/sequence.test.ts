import { describe, expect, test } from 'vitest'
import { dueScript, GearMonkeyClient, GearMonkeyWorker } from '../../src/index.ts'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { record, type Recording } from './support/monitor.ts'

const sha1 = '5231827cd49b540660ef44969b38cc858f157824'
const now = 1_700_000_000
const due = `EVALSHA ${sha1} 1 queue:mail:scheduled ${now}`
const pop = 'BRPOP queue:mail:high queue:mail:normal queue:mail:low 1'

/** Commands that the text allows a worker for one job; HGETALL is the one that reads input. */
const worked = (id: number): string[] => [
  `PUBLISH channel:mail start:${id}`,
  `HMSET job:mail:${id} status busy`,
  `HGETALL job:mail:${id}`,
  `HMSET job:mail:${id} status:dividend 1 status:divisor 2`,
  `HMSET job:mail:${id} status success output HELLO`,
  `EXPIRE job:mail:${id} 90000`,
  `PUBLISH channel:mail finish:${id}`,
  `LPUSH lock:mail:${id} OK`,
  `EXPIRE lock:mail:${id} 10`,
]

const submitted = (id: number, push: string): string[] => [
  'INCR uid:mail',
  `HMSET job:mail:${id} status idle input hello`,
  `PUBLISH channel:mail create:${id}`,
  push,
]

/** A worker that does one job and stops; the loop may turn once more before it hears of it. */
async function workOnce(redis: RedisServer): Promise<void> {
  let done: () => void = () => undefined
  const one = new Promise<void>((resolve) => (done = resolve))
  const worker = new GearMonkeyWorker(redis.url, { nowSeconds: () => now })
  await worker.accept('mail', async ({ input, update }) => {
    await update(1, 2)
    done()
    return input.toString().toUpperCase()
  })
  await one
  await worker.stop()
}

describe.skipIf(lacksRedis)('with redis-server, MONITOR shows', () => {
  let redis: RedisServer
  let recording: Recording
  let client: GearMonkeyClient

  withRedisServer(async (server) => {
    redis = server
    recording = await record(redis.connect())
    client = new GearMonkeyClient(redis.connect())
  })

  test.each(['high', 'normal', 'low'] as const)('the sequence of one %s job', async (priority) => {
    const id = await client.run('mail', 'hello', { priority })
    expect(await recording.more()).toEqual(submitted(id, `LPUSH queue:mail:${priority} ${id}`))
    await workOnce(redis)
    const [load, count, ...rest] = await recording.more()
    expect([load, count]).toEqual([`SCRIPT LOAD ${dueScript}`, 'INCR count:mail'])
    expect(rest).toEqual([due, pop, ...worked(id), 'DECR count:mail'])
  })

  test('the sequence of one scheduled job, in which nothing is popped', async () => {
    const id = await client.run('mail', 'hello', { scheduledFor: now })
    const push = `ZADD queue:mail:scheduled ${now} ${id}`
    expect(await recording.more()).toEqual(submitted(id, push))
    await workOnce(redis)
    const [, , ...rest] = await recording.more()
    expect(rest).toEqual([due, ...worked(id), 'DECR count:mail'])
  })

  test('the sequence of a blocking call with a roll call', async () => {
    const worker = new GearMonkeyWorker(redis.url)
    await worker.accept('quick', () => undefined)
    await recording.more()
    await client.run('quick', '', { blocking: true, rollCall: true, timeoutSeconds: 7 })
    await worker.stop()
    const ofClient = (await recording.more()).filter((command) =>
      /^(GET|INCR uid|HMSET .* idle|PUBLISH .* create|LPUSH queue|BRPOP lock)/.test(command),
    )
    expect(ofClient).toEqual([
      'GET count:quick',
      'INCR uid:quick',
      'HMSET job:quick:1 status idle input ',
      'PUBLISH channel:quick create:1',
      'LPUSH queue:quick:normal 1',
      'BRPOP lock:quick:1 7',
    ])
  })
})
