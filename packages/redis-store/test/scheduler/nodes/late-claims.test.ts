import { beforeEach, describe, expect, test } from 'vitest'
import { aroundSteps, Cluster, type TestNode } from '../harness.ts'

describe('a claim that is answered late', () => {
  let cluster: Cluster
  let slow: TestNode
  let other: TestNode
  let isHeld: boolean
  let letGo: () => void
  beforeEach(async () => {
    cluster = new Cluster()
    isHeld = false
    slow = await cluster.node('slow', {}, (store) =>
      aroundSteps(store, async (step, send) => {
        const answer = await send(step)
        const isClaim = step.claims.length > 0
        if (isHeld && isClaim) await new Promise<void>((resolve) => (letGo = resolve))
        return answer
      }),
    )
    other = await cluster.node('other')
  })

  /** The store reserves a job for a worker, who hears of it after so long a time. */
  async function claimFor(
    ms: number,
    meanwhile: () => void = () => undefined,
  ): Promise<ReturnType<TestNode['worker']>> {
    slow.submit('mail')
    await slow.submitted('mail')
    isHeld = true
    const worker = await slow.worker('mail').taken()
    await cluster.pass(ms)
    meanwhile()
    await cluster.turn()
    isHeld = false
    letGo()
    await cluster.turn()
    return worker
  }

  test('within 3 s brings its job', async () => {
    const worker = await claimFor(3_000)
    expect(worker.jobs).toEqual(['mail:1'])
  })

  test('brings no job after that, and the job is first in its queue again', async () => {
    const worker = await claimFor(3_001)
    expect([worker.jobs, worker.nothings]).toEqual([[], 1])
    const next = await other.worker('mail').taken()
    expect(next.jobs).toEqual(['mail:1'])
    await worker.taken()
    expect(worker.jobs).toEqual(['mail:2'])
  })

  test('brings no job to a node that is stopping, which first gives it back', async () => {
    let idleWhile: string | undefined
    const worker = await claimFor(100, () => {
      slow.scheduler.drain()
      void slow.scheduler.whenIdle().then(() => {
        idleWhile = isHeld ? 'under way' : 'answered'
      })
    })
    expect([worker.jobs, worker.nothings, idleWhile]).toEqual([[], 1, 'answered'])
    const next = await other.worker('mail').taken()
    expect(next.jobs).toEqual(['mail:1'])
  })

  test('does not touch a job that another node has handed out since', async () => {
    slow.store.nodes.beat = () => Promise.reject(new Error('stands still'))
    const taker = other.worker('mail')
    const worker = await claimFor(6_000, () => void taker.take().take())
    expect(worker.jobs).toEqual([])
    expect(taker.jobs).toEqual(['mail:2', 'mail:1'])
    await taker.completed('done')
    expect(taker.settled).toEqual(['done'])
  })
})
