import { beforeEach, describe, expect, test, vi } from 'vitest'
import { StoreError } from '@crossgear/core-scheduler'
import { bytes, Cluster, takeForDead, type TestNode } from '../harness.ts'

let cluster: Cluster
let a: TestNode
let b: TestNode

beforeEach(async () => {
  cluster = new Cluster()
  a = await cluster.node('a')
  b = await cluster.node('b')
})

describe('over two nodes', () => {
  test('a foreground client gets the outcome of a worker on another node', async () => {
    const client = await a.asked('mail')
    const worker = await b.worker('mail').taken()
    worker.status('1', '2')
    worker.data('part')
    await worker.completed('result')
    expect(client.events).toEqual([
      'mail:1 status 1/2',
      'mail:1 data part',
      'mail:1 complete result',
    ])
    expect(worker.settled).toEqual(['done'])
  })

  test('an outcome by jid is refused for a job of a by-name worker', async () => {
    await a.asked('mail')
    const worker = await b.worker('mail').taken()
    const { job } = worker.last
    expect(a.scheduler.lookupLease(job)).toBeUndefined()
    expect(a.scheduler.lookupLease({ ...job, token: job.token.replace(/^n/, 'c') })).toBeDefined()
  })

  test('a foreground client gets a failure from another node', async () => {
    const clients = [a.ask('mail'), a.ask('mail')]
    await cluster.turn()
    for (const message of ['broken', '']) {
      const worker = await b.worker('mail').taken()
      worker.fail(message)
    }
    await cluster.turn()
    expect(clients.map(({ events }) => events)).toEqual([
      ['mail:1 exception broken'],
      ['mail:2 fail'],
    ])
  })

  test('clients of both nodes that share a job both get its one outcome', async () => {
    const unique = bytes('same')
    const clients = [a.ask('mail', { unique }), b.ask('mail', { unique })]
    await cluster.turn()
    expect(clients.map(({ result }) => result?.kind)).toEqual(['created', 'joined'])
    const worker = await b.worker('mail').taken()
    await worker.completed('once')
    for (const { events } of clients) expect(events).toEqual(['mail:1 complete once'])
  })

  test('an idle worker on another node is woken by a submission, within milliseconds', async () => {
    const worker = b.worker('mail').sleep()
    await cluster.pass(10)
    await a.submitted('mail')
    expect(worker.wakes).toBe(1)
  })

  test('a consumer on another node is woken for a new lane', async () => {
    const consumer = b.consumer('default')
    consumer.takesWhenWoken = true
    consumer.sleep()
    await cluster.pass(10)
    a.submit('mail')
    await cluster.pass(5)
    expect(consumer.jobs).toEqual(['mail:1'])
  })

  test('a wake-up that finds nothing checks again for a later native push', async () => {
    cluster = new Cluster()
    const node = await cluster.node('a')
    await node.submitted('mail')
    node.worker('mail').take()
    const worker = node.worker('mail').sleep()
    await cluster.pass(10)
    const id = await cluster.world.native.write('mail', bytes('native'))
    await cluster.pass(10)
    expect(worker.wakes).toBe(0)
    await cluster.world.native.push('mail', id, 'normal')
    await cluster.pass(20)
    expect(worker.wakes).toBe(1)
  })

  test('a client gets a native worker’s finish as soon as it is announced', async () => {
    const unique = bytes('same')
    const clients = [a.ask('mail', { unique }), b.ask('mail', { unique })]
    await cluster.pass(300)
    const id = (await cluster.world.native.take('mail')) ?? 0
    await cluster.world.native.finish('mail', id, 'success', bytes('native'))
    await cluster.pass(5)
    for (const { events } of clients) expect(events).toEqual(['mail:1 complete native'])
    expect((await a.scheduler.jobs.counts(['mail']))[0]?.completed).toBe(1)
    expect(await cluster.world.violations()).toEqual([])
  })

  test('a native worker’s error is retried where the job has retries left', async () => {
    cluster = new Cluster()
    const node = await cluster.node('a')
    const client = node.ask('mail', { retries: 1 })
    await cluster.pass(300)
    const id = (await cluster.world.native.take('mail')) ?? 0
    await cluster.world.native.finish('mail', id, 'error', bytes('broken'))
    await cluster.pass(5)
    expect(client.events).toEqual([])
    expect(await node.scheduler.jobs.look({ lane: 'mail', id })).toMatchObject({ status: 'idle' })
    await cluster.pass(15_300)
    const worker = await node.worker('mail').taken()
    await worker.completed('second try')
    expect(client.events).toEqual(['mail:1 complete second try'])
  })

  test('a client gets a native worker’s progress and finish even if no message arrived', async () => {
    cluster = new Cluster()
    const node = await cluster.node('a')
    const client = await node.asked('mail')
    const id = (await cluster.world.native.take('mail')) ?? 0
    await cluster.world.native.progress('mail', id, '1', '4')
    await cluster.pass(2_500)
    expect(client.events).toEqual(['mail:1 status 1/4'])
    node.isDeaf = true
    await cluster.world.native.finish('mail', id, 'success', bytes('native'))
    await cluster.pass(2_500)
    expect(client.events).toEqual(['mail:1 status 1/4', 'mail:1 complete native'])
  })

  test('jobs of a node that died go back within seconds, to workers of another', async () => {
    await a.submitted('mail')
    a.scheduler.countNamed('mail', 1)
    a.worker('mail').take()
    const worker = b.worker('mail')
    worker.takesWhenWoken = true
    worker.sleep()
    await cluster.pass(100)
    expect(worker.jobs).toEqual([])
    await a.crash()
    await cluster.pass(5_000)
    expect(worker.jobs).toEqual(['mail:1'])
    expect((await b.scheduler.jobs.counts(['mail']))[0]?.workers).toBe(0)
    expect(await cluster.world.violations()).toEqual([])
  })

  test('a dead node whose jobs cannot be requeued does not block those of another', async () => {
    const c = await cluster.node('c')
    const reclaim = c.store.nodes.reclaim.bind(c.store.nodes)
    vi.spyOn(c.store.nodes, 'reclaim').mockImplementation((node, lanes, loss) =>
      node === 'a' ? Promise.reject(new StoreError('REFUSED', 'a')) : reclaim(node, lanes, loss),
    )
    await b.submitted('mail')
    await b.worker('mail').taken()
    await a.crash()
    await b.crash()
    await cluster.pass(5_000)
    expect((await c.scheduler.jobs.counts(['mail']))[0]).toMatchObject({ normal: 1, running: 0 })
    expect(c.observer.errors).toContain('dead nodes')
  })

  test('a node that starts after all others died requeues their jobs', async () => {
    cluster = new Cluster()
    const a = await cluster.node('a')
    await a.submitted('mail')
    a.scheduler.countNamed('mail', 1)
    await a.worker('mail').taken()
    await a.crash()
    await cluster.pass(5_000)
    const b = await cluster.node('b')
    await cluster.pass(4_000)
    expect((await b.scheduler.jobs.counts(['mail']))[0]).toMatchObject({ running: 0, workers: 0 })
    const worker = await b.worker('mail').taken()
    expect(worker.jobs).toEqual(['mail:1'])
  })

  test('a node that was reclaimed while alive registers its workers again', async () => {
    a.scheduler.countNamed('mail', 1)
    await cluster.turn()
    await takeForDead(b, 'a')
    expect((await b.scheduler.jobs.counts(['mail']))[0]?.workers).toBe(0)
    await cluster.pass(1_100)
    expect((await b.scheduler.jobs.counts(['mail']))[0]?.workers).toBe(1)
  })

  test('workers of a function count in all its lanes, consumers in all lanes of their queue', async () => {
    a.scheduler.countNamed('mail', 1)
    a.scheduler.countConsumer('bulk', 1)
    await cluster.turn()
    b.submit('mail@bulk')
    await b.scheduler.openLane('mail@bulk')
    await cluster.turn()
    const workers = (await b.scheduler.jobs.counts(['mail', 'mail@bulk'])).map((one) => one.workers)
    expect(workers).toEqual([1, 2])
    a.scheduler.countNamed('mail', -1)
    await cluster.turn()
    const left = (await b.scheduler.jobs.counts(['mail', 'mail@bulk'])).map((one) => one.workers)
    expect(left).toEqual([0, 1])
  })

  test('consumers whose labels name functions count in the lanes of these, also closed ones', async () => {
    const labels = new Set(['mail', 'sms'])
    const lanes = ['mail@bulk', 'fax@bulk', 'sms@bulk', 'mail']
    const workers = async (): Promise<readonly number[]> =>
      (await b.scheduler.jobs.counts(lanes)).map((one) => one.workers)
    b.submit('mail@bulk')
    await b.submitted('fax@bulk')
    await b.scheduler.closeLane('mail@bulk')
    await cluster.turn()
    a.scheduler.countConsumer('bulk', 1, labels)
    a.scheduler.countConsumer('bulk', 1)
    await b.submitted('sms@bulk')
    expect(await workers()).toEqual([1, 1, 2, 0])
    a.scheduler.countConsumer('bulk', -1, labels)
    await cluster.turn()
    expect(await workers()).toEqual([0, 1, 1, 0])
  })

  test('a node that stops gives back the jobs of its Gearman workers, and its counts', async () => {
    await a.submitted('mail')
    a.scheduler.countNamed('mail', 1)
    await a.worker('mail').taken()
    await a.scheduler.stop()
    expect((await b.scheduler.jobs.counts(['mail']))[0]).toMatchObject({ normal: 1, workers: 0 })
  })

  test('both nodes know a lane that one of them named', async () => {
    const client = await a.submitted('mail')
    expect(b.scheduler.registry.laneOf(client.laneNumber ?? 0)).toBe('mail')
    const c = await cluster.node('c')
    expect(c.scheduler.registry.numberOf('mail')).toBe(client.laneNumber)
  })
})
