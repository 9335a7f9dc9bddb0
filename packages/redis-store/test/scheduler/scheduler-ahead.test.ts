import { beforeEach, describe, expect, test } from 'vitest'
import type { Step } from '@crossgear/core-scheduler'
import { aroundSteps, notingSteps, Cluster, type TestNode } from './harness.ts'

describe('a worker that grabs its next job at once', () => {
  let cluster: Cluster
  let node: TestNode
  let claims: number
  /** Calls of the store wait for this, in their order. */
  let storeIsBusy: Promise<void> | undefined
  beforeEach(async () => {
    cluster = new Cluster()
    claims = 0
    storeIsBusy = undefined
    node = await cluster.node('a', {}, (store) =>
      aroundSteps(store, async (step, send) => {
        claims += step.claims.length
        await storeIsBusy
        return send(step)
      }),
    )
  })

  /** Ends its job and asks for the next in one breath. */
  async function next(worker: ReturnType<TestNode['worker']>): Promise<void> {
    worker.complete('done')
    worker.isPipelined = true
    await worker.taken()
  }

  test('is answered "no job" without a call to the store, once all lanes are watched', async () => {
    const idler = node.worker('mail').sleep()
    await cluster.pass(10)
    const worker = node.worker('mail').take()
    await node.submitted('mail')
    node.scheduler.removeIdle(idler)
    await worker.taken()
    expect(worker.jobs).toEqual(['mail:1'])
    const nothingsBefore = worker.nothings
    const before = claims
    await next(worker)
    expect(worker.nothings).toBe(nothingsBefore + 1)
    expect(claims).toBe(before)
  })

  test('is given a job that another node accepted meanwhile', async () => {
    const other = await cluster.node('b')
    const idler = node.worker('mail').sleep()
    await cluster.pass(10)
    await node.submitted('mail')
    node.scheduler.removeIdle(idler)
    const worker = await node.worker('mail').taken()
    await other.submitted('mail')
    await next(worker)
    expect(worker.jobs).toEqual(['mail:1', 'mail:2'])
  })

  test.each([
    { why: 'in time', goBack: () => cluster.pass(25) },
    {
      why: 'as a lane is closed',
      goBack: async () => {
        await node.store.lanes.close('other')
        await cluster.turn()
      },
    },
  ])('does not hear "no job" while jobs reserved for it go back $why', async ({ goBack }) => {
    const idler = node.worker('mail').sleep()
    await cluster.pass(10)
    node.scheduler.removeIdle(idler)
    for (let at = 0; at < 25; at += 1) node.submit('mail')
    await cluster.turn()
    const worker = await node.worker('mail').taken()
    for (let at = 0; at < 19; at += 1) await next(worker)
    await cluster.pass(20)
    await next(worker)
    const [done, nothings] = [worker.jobs.length, worker.nothings]
    let ready = (): void => undefined
    storeIsBusy = new Promise((resolve) => (ready = resolve))
    await goBack()
    await next(worker)
    expect(worker.nothings).toBe(nothings)
    ready()
    await cluster.turn()
    expect(worker.jobs).toHaveLength(done + 1)
  })

  test('finds its next job reserved, when it is woken for it', async () => {
    const worker = await node.worker('mail').taken()
    worker.sleep()
    await cluster.pass(10)
    await node.submitted('mail')
    expect(worker.wakes).toBe(1)
    const before = claims
    worker.take()
    expect(worker.jobs).toEqual(['mail:1'])
    expect(claims).toBe(before)
  })

  test('wakes up while its job is being stored, and needs no other claim', async () => {
    const worker = await node.worker('mail').taken()
    worker.sleep()
    await cluster.pass(10)
    const before = claims
    let ready = (): void => undefined
    storeIsBusy = new Promise((resolve) => (ready = resolve))
    const client = await node.submitted('mail')
    expect(client.result).toBeUndefined()
    expect(worker.wakes).toBe(1)
    await worker.taken()
    expect(worker.jobs).toEqual([])
    ready()
    await cluster.turn()
    expect(client.result).toMatchObject({ kind: 'created' })
    expect(worker.jobs).toEqual(['mail:1'])
    expect(claims).toBe(before + 1)
    expect(worker.wakes).toBe(1)
  })

  test('is woken alone for one job, while it is being stored', async () => {
    const [first, second] = [node.worker('mail').take(), node.worker('mail').take()]
    await cluster.turn()
    first.sleep()
    second.sleep()
    await cluster.pass(10)
    await node.submitted('mail')
    expect([first.wakes, second.wakes]).toEqual([1, 0])
    node.submit('mail')
    await node.submitted('mail')
    expect([first.wakes, second.wakes]).toEqual([1, 1])
  })

  test('claims from the store if the job reserved for it did not arrive', async () => {
    const worker = await node.worker('mail').taken()
    worker.sleep()
    await cluster.pass(10)
    let fail = (_error: Error): void => undefined
    storeIsBusy = new Promise((_resolve, reject) => (fail = reject))
    const client = await node.submitted('mail')
    await worker.taken()
    const before = claims
    storeIsBusy.catch(() => undefined)
    fail(new Error('gone'))
    storeIsBusy = undefined
    await cluster.turn()
    expect(client.refusal).toBeDefined()
    expect(claims).toBe(before + 1)
    expect(worker.nothings).toBe(2)
  })

  test('that does not fetch it leaves it to others', async () => {
    const sleeper = await node.worker('mail').taken()
    sleeper.sleep()
    await cluster.pass(10)
    await node.submitted('mail')
    await cluster.pass(50)
    const other = await (await cluster.node('b')).worker('mail').taken()
    expect(other.jobs).toEqual(['mail:1'])
  })

  test('gets no job that was reserved ahead if losses count', async () => {
    const counting = await cluster.node('c', { maxLosses: 1 })
    const worker = await counting.worker('mail').taken()
    worker.sleep()
    await cluster.pass(10)
    await counting.submitted('mail')
    expect((await counting.store.lanes.counts(['mail']))[0]).toMatchObject({
      normal: 1,
      running: 0,
    })
  })
})

describe('a consumer that waits', () => {
  test('claims with the step that brings a job of an open lane; a job of a closed one wakes none', async () => {
    const cluster = new Cluster()
    const steps: Step[] = []
    const node = await cluster.node('a', {}, notingSteps(steps))
    node.scheduler.countNamed('legacy', 1)
    const consumer = node.consumer('default')
    consumer.takesWhenWoken = true
    for (const job of ['mail:1', 'mail:2']) {
      consumer.sleep()
      steps.splice(0)
      await node.submitted('mail')
      expect(consumer.jobs).toContain(job)
    }
    expect(steps.map(({ submissions, claims }) => [submissions.length, claims.length])).toEqual([
      [1, 1],
    ])
    const before = consumer.wakes
    consumer.sleep()
    await node.submitted('legacy')
    expect(consumer.wakes).toBe(before)
  })
})
