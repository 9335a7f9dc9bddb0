import { describe, expect, test } from 'vitest'
import type { JobState, LeaseHolders, SchedulerOptions } from '@crossgear/core-scheduler'
import { Cluster, type TestNode } from './harness.ts'

type Held = JobState & { readonly token: string }

const seconds = 1_000
const all = { deadWorkerRequeue: 'all' } as const

/** Lets time pass in steps, as beats would see it. */
async function pass(cluster: Cluster, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += seconds) await cluster.pass(seconds)
}

/** A Faktory worker of a node that takes a job and notes who has it. */
async function took(cluster: Cluster, node: TestNode, holder: string): Promise<Held> {
  const worker = await node.consumer('default').taken()
  const job = worker.assignments.at(-1)?.job
  if (!job) throw new Error('no job')
  node.scheduler.holders.hold(holder, job)
  await cluster.turn()
  return job
}

const statusOf = async (node: TestNode, id = 1): Promise<string | undefined> =>
  (await node.store.jobs.read('mail', [id]))[0]?.status

async function world(options: SchedulerOptions = {}) {
  const cluster = new Cluster()
  const [a, b] = [await cluster.node('a', options), await cluster.node('b', options)]
  const holders: LeaseHolders = a.scheduler.holders
  return { cluster, a, b, holders }
}

test('a job of another door goes back 60 s after its worker has gone, as a loss', async () => {
  const { cluster, a, holders } = await world()
  const client = await a.asked('mail')
  await took(cluster, a, holders.nameOf('w-1'))
  await pass(cluster, 100 * seconds)
  expect(await statusOf(a)).toBe('busy')
  holders.disconnected('ww-1', true)
  await pass(cluster, 58 * seconds)
  expect(await statusOf(a)).toBe('busy')
  await pass(cluster, 4 * seconds)
  expect((await a.store.jobs.read('mail', [1]))[0]).toMatchObject({ status: 'idle', losses: 1 })

  const next = await a.worker('mail').taken()
  await next.completed('by another')
  expect(client.events).toEqual(['mail:1 complete by another'])
  expect(await a.store.holders.held('ww-1')).toEqual([])
  expect(await a.store.holders.goneFor(-1, 9)).toEqual([])
})

test('a silent worker keeps its jobs, also if its node dies or cuts it off', async () => {
  const { cluster, a, b, holders } = await world()
  await a.submitted('mail')
  await took(cluster, a, holders.nameOf('w-1'))
  holders.disconnected('ww-1', false)
  await pass(cluster, 120 * seconds)
  await a.crash()
  await pass(cluster, 120 * seconds)
  expect(await statusOf(b)).toBe('busy')
})

test('a worker that comes back to any node in time keeps its jobs', async () => {
  const { cluster, a, b, holders } = await world()
  await a.submitted('mail')
  await took(cluster, a, holders.nameOf('w-1'))
  holders.disconnected('ww-1', true)
  await pass(cluster, 30 * seconds)
  b.scheduler.holders.connected('ww-1')
  await pass(cluster, 100 * seconds)
  expect(await statusOf(b)).toBe('busy')
  b.scheduler.holders.disconnected('ww-1', true)
  await pass(cluster, 62 * seconds)
  expect(await statusOf(b)).toBe('idle')
})

test('a worker that left one node is there while it is connected to another', async () => {
  const { cluster, a, b, holders } = await world()
  await a.submitted('mail')
  await took(cluster, a, holders.nameOf('w-1'))
  b.scheduler.holders.connected('ww-1')
  await cluster.turn()
  holders.disconnected('ww-1', true)
  await pass(cluster, 100 * seconds)
  expect(await statusOf(b)).toBe('busy')
})

test('that a worker went is noted once the store is back', async () => {
  const { cluster, a, holders } = await world()
  await a.submitted('mail')
  await took(cluster, a, holders.nameOf('w-1'))
  cluster.break()
  holders.disconnected('ww-1', true)
  await pass(cluster, 100 * seconds)
  cluster.mend()
  await pass(cluster, 30 * seconds)
  expect(await statusOf(a)).toBe('busy')
  await pass(cluster, 40 * seconds)
  expect(await statusOf(a)).toBe('idle')
})

test('a worker without a wid gives its job back once it has closed its connection', async () => {
  const { cluster, a, b, holders } = await world()
  for (let count = 0; count < 2; count += 1) a.submit('mail')
  await cluster.turn()
  const names = [holders.nameOf(undefined), holders.nameOf(undefined)]
  for (const name of names) await took(cluster, a, name)
  await pass(cluster, 100 * seconds)
  expect([await statusOf(b, 1), await statusOf(b, 2)]).toEqual(['busy', 'busy'])
  holders.disconnected(names[0] ?? '', true)
  await pass(cluster, 63 * seconds)
  expect([await statusOf(b, 1), await statusOf(b, 2)]).toEqual(['idle', 'busy'])
})

test.each([
  ['others', 'busy'],
  ['all', 'idle'],
] as const)('with %s a job of a Faktory producer is %s then', async (deadWorkerRequeue, status) => {
  const { cluster, a, holders } = await world({ deadWorkerRequeue })
  await a.submitted('mail', { door: 'faktory', jid: '12345678' })
  await took(cluster, a, holders.nameOf('w-1'))
  holders.disconnected('ww-1', true)
  await pass(cluster, 62 * seconds)
  expect(await statusOf(a)).toBe(status)
})

test.each([
  ['another door', 'gearman', {}],
  ['a Faktory producer', 'faktory', all],
] as const)(
  'a background job of %s that lost its last worker is dead, not gone',
  async (_name, door, options) => {
    const { cluster, a, holders } = await world({ maxLosses: 1, ...options })
    await a.submitted('mail', { door })
    await took(cluster, a, holders.nameOf('w-1'))
    holders.disconnected('ww-1', true)
    await pass(cluster, 62 * seconds)
    expect((await a.store.jobs.read('mail', [1]))[0]).toMatchObject({
      status: 'error',
      losses: 1,
      failure: '{"errtype":"WorkersLost"}',
    })
    expect((await a.store.lanes.counts(['mail']))[0]).toMatchObject({ dead: 1, died: 1, failed: 0 })
  },
)

describe('a job leased by a node that dies before its consumer has it', () => {
  test.each([
    ['of another door goes back within seconds', 'gearman', {}, 'idle'],
    ['of a Faktory producer stays', 'faktory', {}, 'busy'],
    ['of a Faktory producer goes back if that is asked for', 'faktory', all, 'idle'],
  ] as const)('%s', async (_name, door, options, status) => {
    const { cluster, a, b } = await world(options)
    await a.submitted('mail', { door })
    await a.consumer('default').taken()
    await a.crash()
    await pass(cluster, 6 * seconds)
    expect(await statusOf(b)).toBe(status)
  })

  test('leaves others with their consumers', async () => {
    const { cluster, a, b, holders } = await world()
    for (let count = 0; count < 2; count += 1) a.submit('mail')
    await cluster.turn()
    await took(cluster, a, holders.nameOf('w-1'))
    await a.consumer('default').taken()
    await a.crash()
    await pass(cluster, 6 * seconds)
    expect([await statusOf(b, 1), await statusOf(b, 2)]).toEqual(['busy', 'idle'])
  })
})

test('a job that its worker ended has no holder', async () => {
  const { cluster, a, holders } = await world()
  await a.submitted('mail')
  const name = holders.nameOf('w-1')
  const job = await took(cluster, a, name)
  holders.settled(name, job)
  await cluster.turn()
  expect(await a.store.holders.held(name)).toEqual([])
})

test.each([
  ['its time is over', (cluster: Cluster) => pass(cluster, 70 * seconds)],
  ['all jobs were dropped', (_: Cluster, { scheduler }: TestNode) => scheduler.queues.flush()],
])('a job has no holder any more once %s, though its worker lives on', async (_name, end) => {
  const { cluster, a, b, holders } = await world()
  const name = holders.nameOf('w-1')
  await a.submitted('mail', { reserveForSeconds: 60 })
  await took(cluster, a, name)
  await end(cluster, a)
  await b.submitted('mail')
  const { id, token } = await took(cluster, b, name)
  holders.alive(name)
  await pass(cluster, 20 * seconds)
  expect(await a.store.holders.held(name)).toEqual([{ lane: 'mail', id, token }])
})

test('a long outage of the store does not count as absence of the workers', async () => {
  const { cluster, a, holders } = await world()
  await a.submitted('mail')
  await took(cluster, a, holders.nameOf('w-1'))
  holders.disconnected('ww-1', true)
  await pass(cluster, 45 * seconds)
  cluster.break()
  await pass(cluster, 120 * seconds)
  cluster.mend()
  await pass(cluster, 15 * seconds)
  expect(await statusOf(a)).toBe('busy')
  holders.connected('ww-1')
  await pass(cluster, 100 * seconds)
  expect(await statusOf(a)).toBe('busy')
})
