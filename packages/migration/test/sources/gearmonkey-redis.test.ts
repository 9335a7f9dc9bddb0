import type { NewJob } from '@crossgear/core-scheduler'
import { GearMonkeyClient } from '@crossgear/gearmonkey-redis'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { RedisStore, StoreKeys } from '@crossgear/redis-store'
import { RedisServer } from '@crossgear/tools/redis-server'
import { afterEach, expect, test } from 'vitest'
import type { Reject } from '../../src/record/record.ts'
import { migration, sourceContract } from '../support/source-contract.ts'
import type { TestTarget } from '../support/target.ts'

const hour = 3_600_000
const later = Math.floor(Date.now() / 1000) * 1000 + 24 * hour
const lanes = ['mail', 'mail@bulk', 'report', 'native']

function aJob(input: string | Buffer, over: Partial<NewJob> = {}): NewJob {
  return { input: Buffer.from(input), door: 'gearman', level: 5, foreground: false, ...over }
}

/** Stores jobs as gateways do, by their own steps, and as a native client does. */
async function fill(server: RedisServer): Promise<void> {
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

async function start(target: TestTarget) {
  const server = await RedisServer.start()
  const address = `gearmonkey+redis://127.0.0.1:${server.port}`
  /** Places of a lane's jobs. */
  const contents = async () => {
    const store = new RedisStore({ path: server.path })
    await store.open()
    const found = await store.lanes.counts(lanes)
    await store.close()
    return found.map(({ high, normal, low, scheduled, retrying, dead }) => {
      return { high, normal, low, scheduled, retrying, dead }
    })
  }
  return {
    server,
    address,
    contents,
    async refill() {
      await server.ask('FLUSHALL')
      await fill(server)
    },
    async arrived(rejects: readonly Reject[]) {
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
      expect(bytes?.job).toMatchObject({
        input: Buffer.from([0, 255, 0]),
        unique: Buffer.from('u1'),
      })
      expect(empty?.job.input).toHaveLength(0)
      expect(scheduled?.dueAtMs).toBe(later)
      const natives = (await target.jobs('native')).map(({ job }) => [job.door, String(job.input)])
      expect(natives.sort()).toEqual(
        ['high', 'low', 'normal', 'scheduled'].map((name) => ['native', name]),
      )
    },
    async emptied() {
      const redis = server.connect()
      expect(await redis.keys('job:*')).toEqual(['job:report:1'])
      expect(await redis.keys('queue:*')).toEqual(['queue:report:normal'])
      const keys = new StoreKeys()
      expect(await redis.exists(keys.jids(), keys.unique('mail@bulk'), keys.dead('mail'))).toBe(0)
      redis.disconnect()
    },
    async restored(before: Awaited<ReturnType<typeof contents>>) {
      // A job that a worker had is queued now.
      const [mail, ...others] = before
      expect(await contents()).toEqual([{ ...mail, normal: mail!.normal + 1 }, ...others])
    },
    stop: () => server.stop(),
  }
}

sourceContract(
  {
    name: 'needs redis-server: another GearMonkey store',
    jobs: 20,
    rejected: 1,
    batch: 4,
    start,
  },
  (queue) => {
    afterEach(async () => {
      const redis = queue.fixture.server.connect()
      expect(await checkInvariants(redis, { native: true })).toEqual([])
      redis.disconnect()
    })

    test('workers get the jobs of a lane by level, and in their old order', async () => {
      await queue.move(false)
      const jobs = await queue.target.store.steps.claim({
        by: 'named',
        groups: [{ lanes: ['mail'] }],
        max: 100,
      })
      const order = ['9-2', '8-3', '7-8', '6-7', 'held', '5-1', '5-5', '4-4', '3-9', '2-6', '1-0']
      expect(jobs.map(({ input }) => input.toString())).toEqual(order)
      for (const job of jobs) {
        await queue.target.store.steps.finish('mail', [
          { ...job, kind: 'complete', output: Buffer.alloc(0) },
        ])
      }
    })

    // Built by hand: a native worker that died with its job, and one that took a job.
    test('jobs that native workers took are read, and finished ones are not', async () => {
      const { server } = queue.fixture
      const redis = server.connect()
      await redis.hset('job:native:70', { status: 'busy', input: 'in hand' })
      await redis.hset('job:native:71', { status: 'idle', input: 'popped' })
      await redis.hset('job:native:72', { status: 'success', input: 'over', output: '' })
      await redis.set('job:native:73', 'of another program')
      redis.disconnect()
      expect((await queue.move(true)).counts).toMatchObject({ created: 22, removed: 22 })
      const inputs = (await queue.target.jobs('native')).map(({ job }) => String(job.input))
      expect(inputs).toEqual(expect.arrayContaining(['in hand', 'popped']))
      expect(await server.ask('EXISTS', 'job:native:70', 'job:native:71')).toBe('0')
      await server.ask('DEL', 'job:native:73')
    })

    test('a store that a gateway has open, or that is the target, is refused', async () => {
      const { address, server } = queue.fixture
      const store = new RedisStore({ path: server.path })
      const take = async () => queue.target.take(await queue.openNow(), { name: migration })
      await store.open()
      await expect(take()).rejects.toThrow('--while-live')
      await store.close()
      await server.ask('HSET', 'xg:migration:m', 'source', `${address}/0`)
      await expect(take()).rejects.toThrow('The source and the target are the same store.')
    })
  },
)
