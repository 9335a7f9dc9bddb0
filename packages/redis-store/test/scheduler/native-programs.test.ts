import { beforeEach, describe, expect, test } from 'vitest'
import type { SchedulerOptions } from '@crossgear/core-scheduler'
import { bytes, Cluster, keys, type TestNode } from './harness.ts'
import type { WorldOptions } from '../contract/store-world.ts'
import type { RedisStore } from '../../src/index.ts'

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

/** A store that notes which jobs are read. */
function noting(reads: string[]): (store: RedisStore) => RedisStore {
  return (store) => {
    const look = store.jobs.look.bind(store.jobs)
    store.jobs.look = (lane, ids, extras) => {
      reads.push(...ids.map((id) => `${lane}:${id}`))
      return look(lane, ids, extras)
    }
    return store
  }
}

describe('clients of a native worker', () => {
  test('get its progress within a quarter of a second', async () => {
    const client = node.ask('mail')
    await cluster.pass(110)
    const id = (await cluster.world.native.take('mail')) ?? 0
    for (const done of ['1', '2', '3']) {
      await cluster.world.native.progress('mail', id, done, '4')
      await cluster.pass(260)
    }
    expect(client.events).toEqual(['mail:1 status 1/4', 'mail:1 status 2/4', 'mail:1 status 3/4'])
    await cluster.world.native.finish('mail', id, 'success', bytes('done'))
    await cluster.pass(5)
    expect(client.events.at(-1)).toBe('mail:1 complete done')
  })

  test('are the only ones whose jobs are polled', async () => {
    cluster = new Cluster()
    const reads: string[] = []
    node = await cluster.node('a', {}, noting(reads))
    for (const lane of ['mail', 'sms']) node.ask(lane)
    node.submit('fax')
    await cluster.pass(110)
    node.worker('mail').take()
    await cluster.world.native.take('sms')
    await cluster.world.native.take('fax')
    await cluster.pass(300)
    reads.length = 0
    await cluster.pass(500)
    expect([...new Set(reads)]).toEqual(['sms:1'])
    expect(reads.length).toBeLessThanOrEqual(2)
  })

  test('are polled at once if the native worker is counted, however short they wait', async () => {
    node.submit('mail')
    await cluster.world.native.count('mail', 1)
    await cluster.pass(1_100)
    const client = await node.asked('mail')
    for (const id of [1, 2]) {
      await cluster.world.native.take('mail')
      await cluster.world.native.finish('mail', id, 'success', bytes('done'))
    }
    await cluster.pass(3)
    expect(client.events).toEqual(['mail:2 complete done'])
  })

  test('all have their turn, however many wait', async () => {
    const clients = Array.from({ length: 1_200 }, () => node.ask('mail'))
    await cluster.pass(1_500)
    node.isDeaf = true
    for (let taken = 0; taken < clients.length; taken += 1) {
      const id = (await cluster.world.native.take('mail')) ?? 0
      if (id > 1_100) await cluster.world.native.finish('mail', id, 'success', bytes('done'))
    }
    await cluster.pass(4_000)
    expect(clients.filter(({ events }) => events.length === 1)).toHaveLength(100)
  })
})

describe('jobs without waiting clients', () => {
  test('are settled as soon as the native worker announces the end, whichever node submitted them', async () => {
    const [a, b] = [node, await cluster.node('b')]
    b.submit('mail', { unique: bytes('same'), jid: 'j-1' })
    await cluster.world.native.count('mail', 1)
    await cluster.pass(1_100)
    const id = (await cluster.world.native.take('mail')) ?? 0
    await cluster.world.native.finish('mail', id, 'success', bytes('native'))
    await cluster.turn()
    expect(await a.scheduler.jobs.look({ lane: 'mail', id })).toBeUndefined()
    expect(await a.scheduler.jobs.findUnique(bytes('same'))).toEqual([])
    expect((await a.scheduler.jobs.counts(['mail']))[0]?.completed).toBe(1)
    expect(await cluster.world.violations()).toEqual([])
  })

  test('are found by a sweep if no node got the announcement', async () => {
    await open({ routes: new Map([['kept', { retentionSeconds: 60 }]]) })
    node.submit('mail', { unique: bytes('same') })
    node.submit('mail', { jid: 'j-1', door: 'faktory' })
    node.submit('mail')
    await node.submitted('kept')
    await node.scheduler.stop()
    for (const lane of ['mail', 'mail', 'mail', 'kept']) {
      const id = (await cluster.world.native.take(lane)) ?? 0
      await cluster.world.native.finish(lane, id, 'success', bytes('native'))
    }
    expect(await cluster.world.secondsLeft('mail', 3)).toBe(90_000)
    const b = await cluster.node('b')
    await cluster.pass(2_000)
    expect(await b.scheduler.jobs.findUnique(bytes('same'))).toEqual([])
    expect(await b.scheduler.jobs.findJid('j-1')).toBeUndefined()
    expect(await cluster.world.secondsLeft('mail', 3)).toBeUndefined()
    expect(await cluster.world.secondsLeft('kept', 1)).toBeLessThanOrEqual(60)
    expect((await b.scheduler.jobs.counts(['mail']))[0]?.completed).toBe(3)
  })

  test('of Faktory are retried by their policy after a native worker’s error', async () => {
    node.submit('mail', { door: 'faktory', jid: 'j-1', retries: 1 })
    await cluster.pass(10)
    for (const expected of ['idle', 'error']) {
      const id = (await cluster.world.native.take('mail')) ?? 0
      await cluster.world.native.finish('mail', id, 'error', bytes('broken'))
      await cluster.pass(2_000)
      expect(await node.scheduler.jobs.findJid('j-1')).toMatchObject({
        status: expected,
        settled: expected === 'error',
      })
      await cluster.pass(16_000)
    }
    const job = await node.scheduler.jobs.findJid('j-1')
    expect(JSON.parse(job?.failure ?? '{}')).toMatchObject({ message: 'broken', remaining: 0 })
    expect((await node.scheduler.jobs.counts(['mail']))[0]).toMatchObject({ dead: 1, retried: 1 })
  })

  test('are settled once although several nodes believe to be the leader', async () => {
    const [a, b] = [node, await cluster.node('b')]
    await cluster.world.native.count('mail', 1)
    a.submit('mail', { unique: bytes('same') })
    await cluster.pass(1_100)
    await cluster.world.server.del(keys.leader)
    await b.store.native.holdLeadership(5_000)
    await cluster.pass(1_100)
    const id = (await cluster.world.native.take('mail')) ?? 0
    await cluster.world.native.finish('mail', id, 'success', bytes('native'))
    await cluster.pass(2_000)
    expect((await a.scheduler.jobs.counts(['mail']))[0]?.completed).toBe(1)
  })
})

describe('native clients', () => {
  test('are kept waiting while a route retries their job, and released when it is dead', async () => {
    await open({ routes: new Map([['mail', { retries: 1 }]]) })
    const { native } = cluster.world
    const id = await native.write('mail', bytes('native'))
    await native.push('mail', id, 'normal')
    node.scheduler.countNamed('mail', 1)
    await cluster.turn()
    for (const expected of [0, 1]) {
      const worker = await node.worker('mail').taken()
      worker.fail('broken')
      await cluster.turn()
      expect(await native.locks('mail', id)).toBe(expected)
      await cluster.pass(15_300)
    }
    expect(await node.scheduler.jobs.look({ lane: 'mail', id }, ['output'])).toMatchObject({
      status: 'error',
      output: bytes('broken'),
    })
  })
})

describe('worker counts', () => {
  test('that the store refused are sent again when it answers', async () => {
    node.scheduler.countNamed('mail', 1)
    await cluster.pass(100)
    cluster.break()
    node.scheduler.countNamed('mail', -1)
    await cluster.pass(1_000)
    cluster.mend()
    await cluster.pass(100)
    expect((await node.scheduler.jobs.counts(['mail']))[0]?.workers).toBe(0)
  })
})

describe('repairs', () => {
  const leaseMs = 10_000

  test('requeue the job of a silent native worker and a job that was never pushed', async () => {
    await open({ repair: { mode: 'on', leaseMs } })
    const { native } = cluster.world
    const stray = await native.write('sms', bytes('stray'))
    node.submit('mail')
    await cluster.pass(10)
    await native.take('mail')
    const workers = ['mail', 'sms'].map((fn) => {
      const worker = node.worker(fn).sleep()
      worker.takesWhenWoken = true
      return worker
    })
    await cluster.pass(9_000)
    expect(workers.flatMap(({ jobs }) => jobs)).toEqual([])
    await cluster.pass(4_000)
    expect(workers.flatMap(({ jobs }) => jobs)).toEqual(['mail:1', `sms:${stray}`])
    const repairs = node.observer.of('repaired').map(({ repair, done }) => [repair.kind, done])
    expect(repairs.sort()).toEqual([
      ['busy', true],
      ['stray', true],
    ])
  })

  test('of orphans queue only jobs that no worker can have, and none of a slow worker', async () => {
    await open({ repair: { mode: 'strays', leaseMs } })
    const { native } = cluster.world
    const unique = bytes('one')
    for (const lane of ['popped', 'busy']) node.submit(lane, { unique })
    await cluster.pass(10)
    await native.pop('popped')
    await native.take('busy')
    await native.count('busy', 1)
    await cluster.pass(12_500)
    const repairs = node.observer.of('repaired').map(({ repair, done }) => [repair.lane, done])
    expect(repairs.sort()).toEqual([
      ['busy', false],
      ['popped', true],
    ])
    const again = ['popped', 'busy'].map((lane) => node.submit(lane, { unique }))
    await cluster.turn()
    expect(again.map(({ result }) => result?.kind)).toEqual(['joined', 'created'])
    const [counts] = await node.scheduler.jobs.counts(['busy'])
    expect(counts).toMatchObject({ normal: 1, workers: 1 })
  })

  test('that are only reported change nothing', async () => {
    await open({ repair: { mode: 'report', leaseMs } })
    const { native } = cluster.world
    await native.write('sms', bytes('stray'))
    await cluster.pass(12_500)
    expect(node.observer.of('repaired').map(({ repair, done }) => [repair.kind, done])).toEqual([
      ['stray', false],
    ])
    expect((await node.scheduler.jobs.counts(['sms']))[0]).toMatchObject({ normal: 0 })
  })

  test('open a lane to consumers if only the count of a dead native worker kept it closed', async () => {
    await open({ repair: { mode: 'on', leaseMs } }, { graceMs: 0 })
    await cluster.world.native.count('mail', 1)
    node.submit('mail')
    await cluster.pass(10)
    const consumer = node.consumer('default')
    consumer.takesWhenWoken = true
    consumer.sleep(true)
    await cluster.pass(9_000)
    expect(consumer.jobs).toEqual([])
    for (let second = 0; second < 5; second += 1) {
      if (consumer.jobs.length === 0) consumer.sleep()
      await cluster.pass(1_000)
    }
    expect(consumer.jobs).toEqual(['mail:1'])
  })

  test('are off by default', async () => {
    await cluster.world.native.write('sms', bytes('stray'))
    await cluster.pass(60_000)
    expect(node.observer.of('repaired')).toEqual([])
    expect((await node.scheduler.jobs.counts(['sms']))[0]).toMatchObject({ normal: 0 })
  })
})

describe('unannounced changes by native programs', () => {
  /** A store that counts its calls, by what is called. */
  function counted(calls: Map<string, number>): (store: RedisStore) => RedisStore {
    return (store) => {
      for (const part of ['lanes', 'jobs', 'native', 'nodes'] as const) {
        const object = store[part] as unknown as Record<string, (...args: unknown[]) => unknown>
        for (const name of methodsOf(object)) {
          const call = object[name]?.bind(object)
          object[name] = (lanes: unknown, ...rest: unknown[]) => {
            const count = Array.isArray(lanes) && name !== 'marks' ? lanes.length : 1
            calls.set(name, (calls.get(name) ?? 0) + count)
            return call?.(lanes, ...rest)
          }
        }
      }
      return store
    }
  }

  const methodsOf = (object: object): string[] => {
    const members = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(object))
    return Object.keys(members).filter(
      (name) => name !== 'constructor' && typeof members[name]?.value === 'function',
    )
  }

  async function resting(lanes: number): Promise<Map<string, number>> {
    cluster = new Cluster()
    const calls = new Map<string, number>()
    const { server } = await cluster.open()
    for (let n = 1; n <= lanes; n += 1) void server.hset(keys.lanes, `lane-${n}`, n)
    node = await cluster.node('a', {}, counted(calls))
    return calls
  }

  test.each([0, 2_000, 20_000])('in %i lanes cost the same few looks at rest', async (lanes) => {
    const calls = await resting(lanes)
    await cluster.pass(31_000)
    calls.clear()
    await cluster.pass(60_000)
    // Of lanes, each time that it is looked at; of other calls each.
    expect(calls.get('heal') ?? 0).toBeLessThanOrEqual(2 * 60)
    // Due jobs are asked for ten times a second, of all lanes at once.
    expect(calls.get('promote')).toBeLessThanOrEqual(10 * 60)
    calls.delete('promote')
    expect([...calls.values()].reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(14 * 60)
    expect(calls.get('marks')).toBe(60)
  })

  test.each([
    [1, 2],
    [250, 2],
    [20_000, 33],
  ])('of %i lanes wake an idle worker within %i heartbeats', async (lanes, within) => {
    await resting(lanes)
    await cluster.pass(31_000)
    const last = `lane-${lanes}`
    const worker = node.worker(last).sleep()
    await cluster.pass(5_000)
    const wakes = worker.wakes
    node.isDeaf = true
    await cluster.world.native.push(
      last,
      await cluster.world.native.write(last, bytes('in')),
      'low',
    )
    node.isDeaf = false
    await cluster.pass(1_000 * within)
    expect(worker.wakes).toBe(wakes + 1)
  })
})

test('an announced job adds a function only if it is in this store', async () => {
  node.consumer('default').sleep()
  await cluster.pass(1)
  const announce = (id: number): Promise<unknown> =>
    cluster.world.server.publish(keys.channel('mail'), `create:${id}`)
  for (const id of [7, 8, 9]) await announce(id)
  await cluster.pass(10)
  expect(node.scheduler.registry.numberOf('mail')).toBeUndefined()
  await announce(7)
  const id = await cluster.world.native.write('mail', bytes('input'))
  await cluster.world.native.push('mail', id, 'normal')
  await cluster.pass(10)
  expect(node.scheduler.registry.numberOf('mail')).toBeDefined()
})
