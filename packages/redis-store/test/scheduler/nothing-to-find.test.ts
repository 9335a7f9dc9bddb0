import { beforeEach, describe, expect, test, vi } from 'vitest'
import { aroundSteps, bytes, Cluster, type TestNode } from './harness.ts'
import type { TestWorker } from './test-worker.ts'

describe('a worker that asks where no job can be', () => {
  let cluster: Cluster
  let node: TestNode
  let claims: number
  beforeEach(async () => {
    cluster = new Cluster()
    claims = 0
    node = await cluster.node('a', {}, (store) =>
      aroundSteps(store, (step, send) => {
        claims += step.claims.length
        return send(step)
      }),
    )
  })

  /** A worker of a function whose last job is done, while another one sleeps: its lane is watched. */
  async function afterTheLastJob(): Promise<TestWorker> {
    const idler = node.worker('mail').sleep()
    await cluster.pass(10)
    node.scheduler.removeIdle(idler)
    node.submit('mail')
    const worker = await node.worker('mail').taken()
    expect(worker.jobs).toEqual(['mail:1'])
    await worker.taken()
    expect(worker.nothings).toBe(1)
    claims = 0
    return worker
  }

  test('is answered at once, and without the store, for a function that is named for the first time', async () => {
    node.scheduler.countNamed('mail', 1)
    expect(node.worker('mail').take().nothings).toBe(1)
    await cluster.turn()
    expect(claims).toBe(0)
  })

  test('is given a job that is on its way to a new function', async () => {
    node.submit('mail')
    const worker = await node.worker('mail').taken()
    expect([worker.jobs, worker.nothings]).toEqual([['mail:1'], 0])
  })

  test("is woken, once it sleeps, for a native program's job of a function that nobody has named", async () => {
    const { native } = cluster.world
    const id = await native.write('mail', bytes('native'))
    await native.push('mail', id, 'normal')
    const worker = node.worker('mail').take()
    expect(worker.nothings).toBe(1)
    worker.sleep(true)
    await cluster.turn()
    expect(worker.wakes).toBe(1)
  })

  test('and has many functions sleeps and wakes without a look at each of them', async () => {
    const functions = Array.from({ length: 50 }, (_none, at) => `f${at}`)
    const worker = node.worker(...functions)
    for (const fn of functions) await node.scheduler.admin.addLane(fn)
    await worker.taken()
    worker.sleep(true)
    await cluster.pass(100)
    await worker.taken()
    const looks = vi.spyOn(node.scheduler.registry, 'ofFunction')
    for (let job = 1; job <= 10; job += 1) {
      worker.sleep(true)
      await cluster.pass(10)
      await node.submitted('f7')
      expect(worker.wakes).toBe(job)
      await worker.taken()
      await worker.completed('')
    }
    expect(worker.jobs).toHaveLength(10)
    expect(looks.mock.calls.length).toBeLessThan(functions.length)
  })

  test('asks the store for a function that was named before', async () => {
    node.scheduler.countNamed('mail', 1)
    await cluster.turn()
    const worker = node.worker('mail').take()
    expect(worker.nothings).toBe(0)
    await cluster.turn()
    expect([claims, worker.nothings]).toEqual([1, 1])
  })

  test('is answered at once if its lanes were empty a moment ago', async () => {
    const worker = await afterTheLastJob()
    expect(worker.take().nothings).toBe(2)
    expect(claims).toBe(0)
  })

  test('is given a job that was submitted before it asked', async () => {
    const worker = await afterTheLastJob()
    node.submit('mail')
    await worker.taken()
    expect(worker.jobs).toEqual(['mail:1', 'mail:2'])
  })

  test('is given a job that another worker gave up before it asked', async () => {
    const worker = await afterTheLastJob()
    worker.release(true)
    const other = await node.worker('mail').taken()
    expect(other.jobs).toEqual(['mail:1'])
  })

  test('asks the store if other nodes may have taken a job in', async () => {
    const worker = await afterTheLastJob()
    await cluster.node('b')
    await cluster.pass(1_100)
    await worker.taken()
    const before = worker.nothings
    expect(worker.take().nothings).toBe(before)
  })
})
