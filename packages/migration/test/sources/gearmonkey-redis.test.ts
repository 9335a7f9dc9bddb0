import type { NewJob } from '@crossgear/core-scheduler'
import { GearMonkeyClient } from '@crossgear/gearmonkey-redis'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { RedisStore, StoreKeys } from '@crossgear/redis-store'
import { RedisServer, lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openSource } from '../../src/sources/open-source.ts'
import { TestTarget } from '../support/target.ts'

const hour = 3_600_000
const later = Math.floor(Date.now() / 1000) * 1000 + 24 * hour
const lanes = ['mail', 'mail@bulk', 'report', 'native']

function aJob(input: string | Buffer, over: Partial<NewJob> = {}): NewJob {
  return { input: Buffer.from(input), door: 'gearman', level: 5, foreground: false, ...over }
}

describe.skipIf(lacksRedis)('needs redis-server: another GearMonkey store', () => {
  let server: RedisServer
  let target: TestTarget
  let address: string

  beforeAll(async () => {
    ;[server, target] = await Promise.all([RedisServer.start(), TestTarget.open()])
    address = `gearmonkey+redis://127.0.0.1:${server.port}`
  })
  afterAll(() => Promise.all([server.stop(), target.close()]))
  beforeEach(() => fill())
  afterEach(async () => {
    expect(await target.violations()).toEqual([])
    const redis = server.connect()
    expect(await checkInvariants(redis, { native: true })).toEqual([])
    redis.disconnect()
    await target.clear()
    await server.ask('FLUSHALL')
  })

  /** Stores jobs as gateways do, by their own steps, and as a native client does. */
  async function fill(): Promise<void> {
    const store = new RedisStore({ path: server.path })
    await store.open()
    for (const lane of lanes) await store.lanes.register(lane)
    // Dead, tried again and taken by a worker, of the first three.
    const jid = 'jid-of-faktory'
    const envelope = `{"jid":"${jid}","queue":"default","jobtype":"mail","x":12345678901234567890}`
    const faktory = { door: 'faktory', jid, envelope, retries: 4 } as const
    await store.steps.submit(
      'mail',
      ['dead', 'retry', 'held'].map((input) => aJob(input, input === 'retry' ? faktory : {})),
    )
    const [dead, retry] = await store.steps.claim({
      by: 'named',
      groups: [{ lanes: ['mail'] }],
      max: 3,
    })
    const message = Buffer.from('broken')
    const failure = '{"retry_count":0,"message":"broken"}'
    await store.steps.finish('mail', [
      { ...dead!, kind: 'dead', message, failure },
      { ...retry!, kind: 'retry', message, failure, delayMs: hour },
    ])
    const levels = [1, 5, 9, 8, 4, 5, 2, 6, 7, 3] as const
    await store.steps.submit(
      'mail',
      levels.map((level, at) => aJob(`${level}-${at}`, { level })),
    )
    await store.steps.submit('mail@bulk', [
      aJob(Buffer.from([0, 255, 0]), { unique: Buffer.from('u1'), level: 8 }),
      aJob('', { unique: Buffer.from('u2') }),
      aJob('later', { dueAtMs: later, unique: Buffer.from('u3') }),
    ])
    await store.steps.submit('report', [aJob('waited for', { foreground: true })])
    await store.close()
    const client = new GearMonkeyClient(server.url)
    await client.run('native', 'high', { priority: 'high' })
    await client.run('native', 'normal')
    await client.run('native', 'low', { priority: 'low' })
    await client.run('native', 'scheduled', { scheduledFor: new Date(later) })
    client.close()
  }

  const open = (isMove = false) => openSource(address, { isMove, functions: [] })

  const move = async (isMove: boolean, stopAfter = Infinity) =>
    target.take(await open(isMove), { name: 'g', isMove, batch: 4, stopAfter })

  test('jobs of all doors arrive in their state; one that a client waits for stays', async () => {
    const { counts, rejects } = await move(false)
    expect(counts).toMatchObject({ read: 21, created: 20, rejected: 1 })
    expect(rejects).toMatchObject([{ reason: 'foreground', where: 'job:report:1' }])
    expect(await target.store.lanes.counts(lanes)).toMatchObject([
      { high: 3, normal: 5, low: 3, retrying: 1, dead: 1 },
      { high: 1, normal: 1, scheduled: 1 },
      { normal: 0 },
      { high: 1, normal: 1, low: 1, scheduled: 1 },
    ])
    const mail = await target.jobs('mail')
    const retry = mail.find(({ job }) => job.jid === 'jid-of-faktory')
    expect(retry?.job).toMatchObject({ door: 'faktory', retries: 4 })
    expect(retry?.job.envelope).toContain('12345678901234567890')
    expect(retry?.job.failure).toContain('broken')
    expect(retry?.dueAtMs).toBeGreaterThan(Date.now())
    const [bytes, empty, scheduled] = await target.jobs('mail@bulk')
    expect(bytes?.job).toMatchObject({ input: Buffer.from([0, 255, 0]), unique: Buffer.from('u1') })
    expect(empty?.job.input).toHaveLength(0)
    expect(scheduled?.dueAtMs).toBe(later)
    const natives = (await target.jobs('native')).map(({ job }) => [job.door, String(job.input)])
    expect(natives.sort()).toEqual(
      ['high', 'low', 'normal', 'scheduled'].map((name) => ['native', name]),
    )
    expect(await target.verify(await open(), 'g')).toMatchObject({
      rejected: 1,
      isEqual: false,
    })
    expect((await move(false)).counts).toMatchObject({ created: 0, known: 20 })
  })

  test('workers get the jobs of a lane by level, and in their old order', async () => {
    await move(false)
    const jobs = await target.store.steps.claim({
      by: 'named',
      groups: [{ lanes: ['mail'] }],
      max: 100,
    })
    const order = ['9-2', '8-3', '7-8', '6-7', 'held', '5-1', '5-5', '4-4', '3-9', '2-6', '1-0']
    expect(jobs.map(({ input }) => input.toString())).toEqual(order)
    for (const job of jobs) {
      await target.store.steps.finish('mail', [
        { ...job, kind: 'complete', output: Buffer.alloc(0) },
      ])
    }
  })

  test('a move leaves only the jobs that stay, and a rollback restores all', async () => {
    const counts = async () => {
      const store = new RedisStore({ path: server.path })
      await store.open()
      const found = await store.lanes.counts(lanes)
      await store.close()
      return found.map(({ high, normal, low, scheduled, retrying, dead }) => {
        return { high, normal, low, scheduled, retrying, dead }
      })
    }
    const before = await counts()
    expect((await move(true)).counts).toMatchObject({ removed: 20 })
    const redis = server.connect()
    expect(await redis.keys('job:*')).toEqual(['job:report:1'])
    expect(await redis.keys('queue:*')).toEqual(['queue:report:normal'])
    const keys = new StoreKeys()
    expect(await redis.exists(keys.jids(), keys.unique('mail@bulk'), keys.dead('mail'))).toBe(0)
    redis.disconnect()
    const source = await open(true)
    const restore = source.restore?.bind(source)
    // As if the first rollback had been killed behind each step.
    source.restore = async (records) => {
      await restore?.(records)
      await restore?.(records)
    }
    expect(await target.rollBack(source, 'g')).toMatchObject({ undone: 20, restored: 20 })
    // A job that a worker had is queued now.
    const [mail, ...others] = before
    expect(await counts()).toEqual([{ ...mail, normal: mail!.normal + 1 }, ...others])
  })

  test('moved, put back and moved again, no job is lost', async () => {
    for (let time = 0; time < 2; time += 1) {
      expect((await move(true)).counts).toMatchObject({ created: 20, removed: 20 })
      expect(await target.rollBack(await open(true), 'g')).toMatchObject({ restored: 20 })
    }
  })

  test.each([
    ['a copy', false],
    ['a move', true],
  ])('%s that is stopped after each page brings every job once', async (_name, isMove) => {
    let created = 0
    for (let pages = 0; ; pages += 1) {
      const { counts, isStopped } = await move(isMove, 4)
      created += counts.created
      if (!isStopped) break
      expect(pages).toBeLessThan(30)
    }
    expect(created).toBe(20)
  })

  // Built by hand: a native worker that died with its job, and one that took a job.
  test('jobs that native workers took are read, and finished ones are not', async () => {
    const redis = server.connect()
    await redis.hset('job:native:70', { status: 'busy', input: 'in hand' })
    await redis.hset('job:native:71', { status: 'idle', input: 'popped' })
    await redis.hset('job:native:72', { status: 'success', input: 'over', output: '' })
    await redis.set('job:native:73', 'of another program')
    redis.disconnect()
    expect((await move(true)).counts).toMatchObject({ created: 22, removed: 22 })
    const inputs = (await target.jobs('native')).map(({ job }) => String(job.input))
    expect(inputs).toEqual(expect.arrayContaining(['in hand', 'popped']))
    expect(await server.ask('EXISTS', 'job:native:70', 'job:native:71')).toBe('0')
    await server.ask('DEL', 'job:native:73')
  })

  test('a store that a gateway has open, or that is the target, is refused', async () => {
    const store = new RedisStore({ path: server.path })
    await store.open()
    await expect(move(false)).rejects.toThrow('--while-live')
    await store.close()
    await server.ask('HSET', 'xg:migration:g', 'source', `${address}/0`)
    await expect(move(false)).rejects.toThrow('The source and the target are the same store.')
  })
})
