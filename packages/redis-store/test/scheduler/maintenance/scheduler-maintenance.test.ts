import { beforeEach, describe, expect, test } from 'vitest'
import type { SchedulerOptions } from '@crossgear/core-scheduler'
import type { WorldOptions } from '../../contract/store-world.ts'
import { bytes, Cluster, keys, type TestNode } from '../harness.ts'

let cluster: Cluster
let node: TestNode

async function open(
  options: SchedulerOptions = {},
  worldOptions: WorldOptions = {},
): Promise<void> {
  cluster = new Cluster(worldOptions)
  node = await cluster.node('a', options)
}

beforeEach(() => open())

describe('idle workers', () => {
  test('are woken in the order in which they became idle, one per job', async () => {
    const workers = [1, 2, 3].map(() => node.worker('mail').sleep())
    node.submit('mail')
    await node.submitted('mail')
    expect(workers.map(({ wakes }) => wakes)).toEqual([1, 1, 0])
    workers[0]?.sleep()
    await node.submitted('mail')
    expect(workers.map(({ wakes }) => wakes)).toEqual([1, 1, 1])
  })

  test('all are woken where the operator wants so', async () => {
    await open({ wakeups: 0 })
    const workers = [1, 2, 3].map(() => node.worker('mail').sleep())
    await node.submitted('mail')
    expect(workers.map(({ wakes }) => wakes)).toEqual([1, 1, 1])
  })

  test('one that becomes idle while a job waits is woken if it asks for a check', async () => {
    await node.submitted('mail')
    const worker = node.worker('mail').sleep(true)
    await cluster.turn()
    expect(worker.wakes).toBe(1)
  })

  test('one that was removed is not woken', async () => {
    const worker = node.worker('mail').sleep()
    node.scheduler.removeIdle(worker)
    await node.submitted('mail')
    expect(worker.wakes).toBe(0)
  })

  test('one without arrivals since its check has missed nothing', async () => {
    for (const worker of [node.worker('mail'), node.consumer('default')]) {
      const before = node.scheduler.arrivals(worker.subscription)
      await cluster.turn()
      expect(node.scheduler.arrivals(worker.subscription)).toBe(before)
      await node.submitted('mail')
      expect(node.scheduler.arrivals(worker.subscription)).not.toBe(before)
    }
  })

  test('a job with a past time wakes a worker like one without', async () => {
    const worker = node.worker('mail').sleep()
    await node.submitted('mail', { dueAtMs: node.scheduler.storeNowMs() - 10 })
    expect(worker.wakes).toBe(1)
  })

  test.each(['a', 'b'])(
    'a due job of node %s wakes a worker when it is promoted, and not before',
    async (from) => {
      const [a, b] = [node, await cluster.node('b')]
      const worker = b.worker('mail').sleep()
      const sender = from === 'a' ? a : b
      sender.submit('mail', { dueAtMs: sender.scheduler.storeNowMs() + 5_000 })
      await cluster.pass(4_900)
      expect(worker.wakes).toBe(0)
      await cluster.pass(400)
      expect(worker.wakes).toBe(1)
    },
  )

  test('a consumer is not kept from open lanes by a closed one', async () => {
    node.scheduler.countNamed('legacy', 1)
    await cluster.turn()
    const consumer = node.consumer('default')
    consumer.takesWhenWoken = true
    consumer.sleep()
    for (let job = 0; job < 3; job += 1) node.submit('legacy', { level: 9 })
    await cluster.turn()
    expect(consumer.jobs).toEqual([])
    expect(consumer.wakes).toBe(0)
    await node.submitted('mail', { level: 1 })
    expect(consumer.jobs).toEqual(['mail:1'])
  })

  test('a consumer takes over when the last by-name worker leaves if there is no grace time', async () => {
    await open({}, { graceMs: 0 })
    const [a, b] = [node, await cluster.node('b')]
    a.scheduler.countNamed('legacy', 1)
    await a.submitted('legacy')
    const consumer = b.consumer('default')
    consumer.takesWhenWoken = true
    consumer.sleep(true)
    await cluster.turn()
    expect(consumer.jobs).toEqual([])
    consumer.sleep()
    a.scheduler.countNamed('legacy', -1)
    await cluster.turn()
    expect(consumer.jobs).toEqual(['legacy:1'])
  })

  test('a routed function is open to consumers beside its by-name workers', async () => {
    await open({ routed: new Set(['mail']) })
    node.scheduler.countNamed('mail', 1)
    await node.submitted('mail')
    const consumer = await node.consumer('default').taken()
    expect(consumer.jobs).toEqual(['mail:1'])
  })
})

describe('background maintenance', () => {
  test('a by-name worker that runs out of time loses the job to the next', async () => {
    await node.submitted('mail')
    const late = await node.leasedWorker('mail', 2_000).taken()
    const next = node.worker('mail')
    next.takesWhenWoken = true
    next.sleep()
    await cluster.pass(1_500)
    expect(next.jobs).toEqual([])
    await cluster.pass(2_000)
    expect(next.jobs).toEqual(['mail:1'])
    expect(next.last.job.losses).toBe(1)
    await late.completed('late')
    expect(late.settled).toEqual(['done'])
    await next.completed('second')
    expect(next.settled).toEqual(['unknown'])
  })

  test('a job that lost too many workers is given up, and its client told', async () => {
    await open({ maxLosses: 2 })
    const client = await node.asked('mail')
    for (let run = 0; run < 2; run += 1) {
      const worker = await node.leasedWorker('mail', 100).taken()
      expect(worker.jobs).toEqual(['mail:1'])
      await cluster.pass(1_500)
    }
    expect(client.events).toEqual(['mail:1 fail'])
    expect(await node.scheduler.jobs.look({ lane: 'mail', id: 1 })).toBeUndefined()
  })

  test('an expired lease of a consumer is a failure, and retried', async () => {
    await open({}, { reserveForSeconds: 2 })
    await node.submitted('mail', { door: 'faktory' })
    const consumer = await node.consumer('default').taken()
    expect(consumer.jobs).toEqual(['mail:1'])
    await cluster.pass(4_000)
    const job = await node.scheduler.jobs.look({ lane: 'mail', id: 1 })
    expect(job?.status).toBe('idle')
    expect(JSON.parse(job?.failure ?? '{}')).toMatchObject({
      errtype: 'ReservationExpired',
      remaining: 25,
      retry_count: 0,
    })
    await cluster.pass(16_000)
    await consumer.taken()
    expect(consumer.jobs).toEqual(['mail:1', 'mail:1'])
  })

  test.each(['gearman', 'http'] as const)(
    'a %s job whose consumer ran out of time goes to another worker',
    async (door) => {
      await open({}, { reserveForSeconds: 2 })
      await node.submitted('mail', { door })
      const consumer = await node.consumer('default').taken()
      expect(consumer.jobs).toEqual(['mail:1'])
      await cluster.pass(4_000)
      const worker = await node.worker('mail').taken()
      expect(worker.jobs).toEqual(['mail:1'])
      expect(worker.last.job.losses).toBe(1)
    },
  )

  test('a route’s retries apply to a door that has none', async () => {
    await open({ routes: new Map([['mail', { retries: 1 }]]) })
    const client = await node.asked('mail')
    for (const expected of [[], ['mail:1 exception broken']]) {
      const worker = await node.worker('mail').taken()
      worker.fail('broken')
      await cluster.turn()
      expect(client.events).toEqual(expected)
      await cluster.pass(15_300)
    }
    expect((await node.scheduler.jobs.counts(['mail']))[0]).toMatchObject({
      // The failure of a foreground job is its client's alone.
      dead: 0,
      failed: 1,
      retried: 1,
    })
  })

  test('a job of a route with retention can be read after its end', async () => {
    await open({ routes: new Map([['mail', { retentionSeconds: 60 }]]) })
    await node.submitted('mail', { jid: 'j-1', unique: bytes('u') })
    expect((await node.scheduler.jobs.findJid('j-1'))?.id).toBe(1)
    expect(await node.scheduler.jobs.findUnique(bytes('u'))).toEqual([{ lane: 'mail', id: 1 }])
    const worker = await node.worker('mail').taken()
    await worker.completed('kept')
    const job = await node.scheduler.jobs.look({ lane: 'mail', id: 1 }, ['output'])
    expect(job?.output?.toString()).toBe('kept')
    await cluster.pass(60_001)
    expect(await node.scheduler.jobs.look({ lane: 'mail', id: 1 })).toBeUndefined()
  })

  test('a stopped node has no timers left', async () => {
    node.worker('mail').sleep()
    await cluster.pass(3_000)
    await node.scheduler.stop()
    await cluster.pass(1_000)
    expect(cluster.clock.pending).toBe(0)
    expect(await cluster.world.server.exists(keys.nodes)).toBe(0)
  })

  test.each([
    ['a by-name worker', 'requeued, and counts as lost', { losses: 1 }],
    ['a consumer', 'tried again, and counts as failed', { losses: 0, failure: expect.anything() }],
  ] as const)('a Faktory job whose lease at %s is over is %s', async (who, _how, state) => {
    await node.submitted('mail', { door: 'faktory', jid: '12345678', reserveForSeconds: 1 })
    const isNamed = who === 'a by-name worker'
    const worker = isNamed ? node.leasedWorker('mail', 1_000) : node.consumer('default')
    worker.take()
    await cluster.pass(3_000)
    expect(worker.jobs).toEqual(['mail:1'])
    const [job] = await node.store.jobs.read('mail', [1])
    expect(job).toMatchObject({ status: 'idle', ...state })
    expect(job?.failure === undefined).toBe(isNamed)
  })

  test('a consumer that waits for room in a queue with a rate is woken each time there is some', async () => {
    // Much less than from one sweep to the next, which would wake it too.
    const rate = { jobs: 1, perMs: 100 }
    await open({}, { throttles: new Map([['default', { rate }]]) })
    // From now on it listens to the lane, and so misses no job that a look would find.
    const consumer = node.consumer('default').sleep()
    await node.scheduler.openLane('mail')
    await cluster.pass(20)
    node.scheduler.removeIdle(consumer)
    for (let job = 0; job < 3; job += 1) node.submit('mail', { door: 'faktory' })
    await cluster.turn()
    await consumer.taken()
    for (let windows = 1; windows <= 2; windows += 1) {
      await consumer.taken()
      expect(consumer.jobs).toHaveLength(windows)
      consumer.sleep()
      await cluster.pass(90)
      expect(consumer.wakes).toBe(windows - 1)
      await cluster.pass(20)
      expect(consumer.wakes).toBe(windows)
      await consumer.taken()
      expect(consumer.jobs).toHaveLength(windows + 1)
    }
  })
})
