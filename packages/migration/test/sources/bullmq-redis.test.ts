import { RedisServer } from '@crossgear/tools/redis-server'
import { waitFor } from '@crossgear/tools/wait-for'
import { FlowProducer, Queue, UnrecoverableError, Worker } from 'bullmq'
import { expect, test } from 'vitest'
import type { Reject } from '../../src/record/record.ts'
import { migration, sourceContract } from '../support/source-contract.ts'
import type { TestTarget } from '../support/target.ts'

const hour = 3_600_000
const twenty = Array.from({ length: 20 }, (_none, at) => at)

const fail = (name: string): Promise<never> =>
  Promise.reject(name === 'once' ? new UnrecoverableError('no route') : new RangeError('busy'))

/** When the delayed job is due. */
async function fill(port: number): Promise<number> {
  const connection = { port }
  const broken = new Queue('broken', { connection })
  await broken.add('once', { why: 'final' })
  await broken.add('again', ['x'], { attempts: 4, backoff: { type: 'fixed', delay: hour } })
  const failing = new Worker('broken', ({ name }) => fail(name), { connection })
  await waitFor('both have failed', async () => {
    const { failed, delayed } = await broken.getJobCounts('failed', 'delayed')
    return failed === 1 && delayed === 1
  })
  await failing.close()
  const [mail, bulk] = ['mail', 'bulk'].map((name) => new Queue(name, { connection }))
  for (const at of twenty) await mail!.add(at % 3 === 0 ? 'send' : 'report', { at, text: 'ü' })
  for (const priority of [1, 5, 2, 9, 1]) await mail!.add('ranked', { priority }, { priority })
  const delayedUntil = Date.now() + 24 * hour
  const delay = 24 * hour
  await mail!.add('later', 'text', { delay, timestamp: delayedUntil - delay, jobId: 'my-own-id' })
  await bulk!.pause()
  for (const at of [1, 2, 3]) await bulk!.add('send', at)
  await bulk!.upsertJobScheduler('nightly', { every: 24 * hour }, { name: 'tick' })
  const flow = new FlowProducer({ connection })
  await flow.add({
    name: 'parent',
    queueName: 'flows',
    children: [{ name: 'child', queueName: 'flows' }],
  })
  await Promise.all([broken, mail!, bulk!, flow].map((open) => open.close()))
  return delayedUntil
}

async function start(target: TestTarget) {
  const server = await RedisServer.start()
  const delayedUntil = await fill(server.port)
  await server.ask('SWAPDB', '0', '1')
  return {
    server,
    address: `bullmq+redis://127.0.0.1:${server.port}`,
    async refill() {
      await server.ask('FLUSHDB')
      const redis = server.connect({ db: 1 })
      for (const key of await redis.keys('*')) await redis.copy(key, key, 'DB', 0)
      redis.disconnect()
    },
    /** Flows and schedulers stay. */
    async arrived(rejects: readonly Reject[]) {
      expect(
        rejects.map(({ reason, message }) => `${reason} ${message.split(' stays: ')[1]}`).sort(),
      ).toEqual([
        'not_read a job scheduler makes it',
        'not_read it belongs to a flow',
        'not_read it waits for its children',
      ])
      const lanes = [
        'send@mail',
        'report@mail',
        'ranked@mail',
        'send@bulk',
        'later@mail',
        'again@broken',
        'once@broken',
      ]
      expect(await target.store.lanes.counts(lanes)).toMatchObject([
        { normal: 7 },
        { normal: 13 },
        { normal: 2, low: 3 },
        { normal: 3 },
        { scheduled: 1 },
        { retrying: 1 },
        { dead: 1 },
      ])
      const [first] = await target.jobs('send@mail')
      expect(first?.job.input.toString()).toBe('{"at":0,"text":"ü"}')
      expect(first?.job).toMatchObject({ retries: -1, door: 'faktory', level: 5 })
      const ranked = (await target.jobs('ranked@mail')).map(({ job }) => [
        String(job.input),
        job.level,
      ])
      expect(ranked).toEqual([
        ['{"priority":1}', 4],
        ['{"priority":1}', 4],
        ['{"priority":2}', 3],
        ['{"priority":5}', 1],
        ['{"priority":9}', 1],
      ])
      const [later] = await target.jobs('later@mail')
      expect(later).toMatchObject({ dueAtMs: delayedUntil, job: { input: Buffer.from('text') } })
      expect(later?.job.envelope).toContain('"id":"my-own-id"')
      const [again] = await target.jobs('again@broken')
      expect(again?.job.retries).toBe(3)
      expect(JSON.parse(again?.job.failure ?? '')).toMatchObject({
        retry_count: 0,
        remaining: 3,
        message: 'busy',
        errtype: 'RangeError',
        backtrace: expect.arrayContaining([expect.stringContaining('at ')]) as string[],
      })
    },
    async emptied() {
      const redis = server.connect()
      const hashes = (await redis.keys('bull:mail:*')).filter((key) =>
        /:(\d+|my-own-id)$/.test(key),
      )
      expect(hashes).toEqual([])
      expect(await redis.exists('bull:mail:wait', 'bull:mail:delayed', 'bull:broken:failed')).toBe(
        0,
      )
      expect(await redis.lrange('bull:bulk:paused', 0, '-1')).toEqual([
        expect.stringMatching(/^repeat:nightly:/),
      ])
      redis.disconnect()
    },
    stop: () => server.stop(),
  }
}

sourceContract(
  {
    name: 'needs redis-server: what BullMQ wrote',
    jobs: 31,
    rejected: 3,
    batch: 4,
    start,
  },
  (queue) => {
    test('consumers get the jobs of a queue in their old order, those with a priority last', async () => {
      await queue.move(false)
      const jobs = await queue.target.consumed('mail', ['send@mail', 'report@mail', 'ranked@mail'])
      const inputs = jobs.map(({ input }) => {
        const fields = JSON.parse(input.toString()) as Record<string, unknown>
        return Object.values(fields)[0]
      })
      expect(inputs).toEqual([...twenty, 1, 1, 2, 5, 9])
    })

    test('after a rollback real workers run all of the restored jobs', async () => {
      await queue.move(true)
      await queue.target.rollBack(await queue.open(true), migration)
      const connection = { port: queue.fixture.server.port }
      const [mail, bulk, broken] = ['mail', 'bulk', 'broken'].map(
        (name) => new Queue(name, { connection }),
      )
      const ran: unknown[] = []
      const running = (name: string) =>
        new Worker(
          name,
          (job) => {
            ran.push(job.data)
            return Promise.resolve()
          },
          { connection },
        )
      const workers: Worker[] = []
      try {
        expect(await mail!.getJobCounts('wait', 'prioritized', 'delayed')).toEqual({
          wait: 20,
          prioritized: 5,
          delayed: 1,
        })
        expect((await mail!.getDelayed())[0]).toMatchObject({ id: 'my-own-id', data: 'text' })
        expect(await bulk!.getJobCounts('paused', 'delayed')).toEqual({ paused: 4, delayed: 0 })
        expect((await broken!.getFailed())[0]).toMatchObject({
          name: 'once',
          failedReason: 'no route',
        })
        expect((await broken!.getDelayed())[0]).toMatchObject({ name: 'again', attemptsMade: 1 })
        workers.push(running('mail'), running('bulk'))
        await bulk!.resume()
        await waitFor('the workers have run them', async () => ran.length === 29)
        expect(ran).toEqual(expect.arrayContaining([1, 2, 3, { at: 19, text: 'ü' }]))
      } finally {
        await Promise.all([...workers, mail!, bulk!, broken!].map((open) => open.close()))
      }
    })

    test('after a rollback a real worker runs the names of a queue in their order', async () => {
      const { server } = queue.fixture
      const connection = { port: server.port }
      await server.ask('FLUSHDB')
      const names = ['A1', 'B2', 'A3', 'B4', 'A5']
      const mixed = new Queue('mixed', { connection })
      for (const name of names) await mixed.add(name.slice(0, 1), name)
      await mixed.close()
      const redis = server.connect()
      // BullMQ itself writes no such member: its job is gone.
      await redis.rpush('bull:mixed:wait', '900')
      redis.disconnect()
      const { counts } = await queue.move(true, { batch: 2 })
      expect(counts).toMatchObject({ created: 5, removed: 5, rejected: 1 })
      const undone = await queue.target.rollBack(await queue.open(true), migration)
      expect(undone).toMatchObject({
        restored: 5,
        rejected: 1,
        left: [{ where: 'bull:mixed:wait 900' }],
      })
      const standing = await server.ask('LRANGE', 'bull:mixed:wait', '0', '-1')
      expect(standing.split(',').at(-1)).toBe('900')
      await server.ask('LREM', 'bull:mixed:wait', '1', '900')
      const ran: unknown[] = []
      const worker = new Worker(
        'mixed',
        (job) => {
          ran.push(job.data)
          return Promise.resolve()
        },
        { connection },
      )
      await waitFor('the worker has run them', () => Promise.resolve(ran.length === names.length))
      await worker.close()
      expect(ran).toEqual(names)
    })

    // Built by hand: BullMQ for JavaScript writes none of these.
    test('integers above 2^53 survive, and invalid jobs are reported and left', async () => {
      const { server } = queue.fixture
      const redis = server.connect()
      await redis.hset('bull:mail:900', {
        name: 'big',
        data: '{"n":12345678901234567890}',
        opts: '{}',
      })
      await redis.hset('bull:mail:901', { name: 'big', data: '{"n":' })
      await redis.lpush('bull:mail:wait', '900', '901', '902', '0:3')
      redis.disconnect()
      const { counts, rejects } = await queue.move(true)
      expect(counts).toMatchObject({ created: 32, rejected: 5 })
      expect(
        rejects.filter(({ reason }) => reason === 'bad_job').map(({ where }) => where),
      ).toEqual(['bull:mail:wait 901', 'bull:mail:wait 902'])
      const [big] = await queue.target.jobs('big@mail')
      expect(big?.job.input.toString()).toBe('{"n":12345678901234567890}')
      expect(await server.ask('LRANGE', 'bull:mail:wait', '0', '-1')).toBe('0:3,902,901')
    })
  },
)
