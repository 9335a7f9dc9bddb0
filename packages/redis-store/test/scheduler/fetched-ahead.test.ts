import { beforeEach, describe, expect, test } from 'vitest'
import type { Step, StepAnswer } from '@crossgear/core-scheduler'
import { aroundSteps, Cluster, takeForDead, type TestNode } from './harness.ts'

/** Time in which consumers show how fast they are, milliseconds. */
const windowMs = 20

describe('a consumer that fetches often', () => {
  let cluster: Cluster
  let node: TestNode
  let steps: Step[]
  let around: (step: Step, send: (step: Step) => Promise<StepAnswer>) => Promise<StepAnswer>
  beforeEach(async () => {
    cluster = new Cluster()
    steps = []
    around = (step, send) => send(step)
    node = await cluster.node('a', {}, (store) =>
      aroundSteps(store, (step, send) => {
        steps.push(step)
        return around(step, send)
      }),
    )
  })

  const claims = () => steps.flatMap((step) => step.claims)
  const starts = () =>
    steps.flatMap(({ reports }) => reports.filter(({ kind }) => kind === 'lease'))
  const counts = async () => (await node.store.lanes.counts(['mail']))[0]

  /** Jobs wait, and consumers of the queues have shown that they take many. */
  async function lively(jobs: number, queues = ['default'], on = node) {
    for (let at = 0; at < jobs + 20; at += 1) on.submit('mail', { door: 'faktory' })
    await cluster.turn()
    for (let at = 0; at < 20; at += 1) {
      const worker = await on.consumer(...queues).taken()
      worker.complete('done')
    }
    await cluster.pass(windowMs)
    const first = await on.consumer(...queues).taken()
    await first.completed('done')
    steps.splice(0)
  }

  /** Fetches a job that is held ahead: without a call of the store. */
  async function fetchHeld(queues = ['default']) {
    const worker = node.consumer(...queues)
    const before = claims().length
    worker.take()
    expect(worker.jobs).toHaveLength(1)
    expect(claims()).toHaveLength(before)
    return worker
  }

  test('is given a job held ahead without a call of the store, in order', async () => {
    await lively(30)
    const first = await fetchHeld()
    const second = await fetchHeld()
    expect(second.last.job.id).toBe(first.last.job.id + 1)
  })

  test('is given none if losses count, or at the rate of a slow one', async () => {
    const counting = await cluster.node('b', { maxLosses: 3 })
    await lively(30, ['default'], counting)
    expect((await counting.store.lanes.counts(['mail']))[0]).toMatchObject({ running: 0 })
    const slow = await node.consumer('default').taken()
    slow.complete('done')
    await cluster.pass(windowMs)
    await node.consumer('default').taken()
    expect(await counts()).toMatchObject({ running: 1 })
  })

  test('has its lease time written with a later step, counted from the fetch', async () => {
    await lively(30)
    await cluster.pass(3)
    const { last } = await fetchHeld()
    const { id, token } = last.job
    await cluster.pass(windowMs)
    await cluster.turn()
    expect(starts()).toEqual([{ lane: 'mail', id, token, kind: 'lease', heldMs: 3 }])
    await cluster.pass(100)
    expect(starts()).toHaveLength(1)
  })

  test('that ends its job first needs no lease time written', async () => {
    await lively(30)
    const worker = await fetchHeld()
    worker.complete('done')
    await cluster.pass(100)
    expect(worker.settled).toEqual(['done'])
    expect(starts()).toEqual([])
  })

  test('whose outcome the store refuses still has its lease time written', async () => {
    await lively(30)
    const worker = await fetchHeld()
    around = () => Promise.reject(new Error('away'))
    await worker.completed('done')
    expect(worker.refusals).toHaveLength(1)
    await cluster.pass(50)
    around = (step, send) => send(step)
    await cluster.pass(2_000)
    expect(starts().at(-1)).toMatchObject({ id: worker.last.job.id })
    await worker.completed('done')
    expect(worker.settled).toEqual(['done'])
  })

  test('loses the job if the node dies before its lease time was written: it is handed out again', async () => {
    await lively(30)
    const worker = await fetchHeld()
    const other = await cluster.node('b')
    await takeForDead(other, 'a')
    const again = other.consumer('default')
    const seen: number[] = []
    for (let at = 0; at < 40; at += 1) {
      await again.taken()
      if (again.assignments.length > 0) seen.push(again.last.job.id)
    }
    expect(seen).toContain(worker.last.job.id)
    await worker.completed('late')
    expect(worker.settled).toEqual(['done'])
  })

  test('keeps the job if its lease time was written, though the node dies', async () => {
    await lively(30)
    const worker = await fetchHeld()
    await cluster.pass(windowMs)
    await cluster.turn()
    const other = await cluster.node('b')
    await takeForDead(other, 'a')
    await worker.completed('done')
    expect(worker.settled).toEqual(['done'])
  })

  test('keeps the job if the node stops normally', async () => {
    await lively(30)
    const worker = await fetchHeld()
    node.scheduler.drain()
    await cluster.turn()
    const leaving = node.scheduler.stop()
    await cluster.turn()
    await leaving
    const other = await cluster.node('b')
    const [state] = await other.store.jobs.look('mail', [worker.last.job.id])
    expect(state?.token).toBe(worker.last.job.token)
    expect((await other.store.lanes.counts(['mail']))[0]).toMatchObject({ running: 1 })
  })

  test('that stops fetching leaves the held jobs to others', async () => {
    await lively(30)
    await cluster.pass(50)
    await cluster.turn()
    expect(await counts()).toMatchObject({ running: 0 })
    const other = await (await cluster.node('b')).consumer('default').taken()
    expect(other.jobs).toHaveLength(1)
  })

  test.each([
    ['paused', () => node.scheduler.queues.pause(['default'])],
    ['cleared', () => node.scheduler.queues.remove('default')],
    ['flushed', () => node.scheduler.queues.flush()],
    ['closed to it', () => node.scheduler.closeLane('mail')],
    ['of a paused function', () => node.scheduler.queues.pauseFunctions(['mail'])],
  ])('is given nothing that was held of a queue that was %s', async (_how, act) => {
    await lively(30)
    const acting = act()
    await cluster.turn()
    await acting
    const worker = await node.consumer('default').taken()
    expect(worker.jobs).toEqual([])
    expect(await counts()).toMatchObject({ running: 0 })
  })

  test('is given nothing that was on its way to its node when the queue was paused', async () => {
    await lively(40)
    let goOn = (): void => undefined
    const held = new Promise<void>((resolve) => (goOn = resolve))
    around = async (step, send) => {
      await held
      return send(step)
    }
    let fetched = 0
    for (; claims().length === 0; fetched += 1) {
      await fetchHeld()
      await cluster.turn()
    }
    const pausing = node.scheduler.queues.pause(['default'])
    await cluster.turn()
    around = (step, send) => send(step)
    goOn()
    await cluster.turn()
    await pausing
    expect(await counts()).toMatchObject({ running: fetched })
  })

  test('is told how long its job has waited, from its arrival to the fetch', async () => {
    await lively(30)
    await cluster.pass(7)
    const { job } = (await fetchHeld()).last
    const [state] = await node.store.jobs.look('mail', [job.id])
    expect(node.observer.seen.at(-1)).toMatchObject({
      kind: 'assigned',
      waitMs: node.scheduler.storeNowMs() - (state?.enqueuedAtMs ?? 0),
    })
  })

  test('is given held jobs again after a FLUSH that failed', async () => {
    node.store.batches.clear = () => Promise.reject(new Error('away'))
    const flushing = node.scheduler.queues.flush()
    await Promise.all([expect(flushing).rejects.toThrow('away'), cluster.turn()])
    await lively(30)
    await fetchHeld()
  })

  test('gets a job of its first queue first, although some of another are held', async () => {
    await lively(30)
    await node.submitted('mail@urgent', { door: 'faktory' })
    const worker = await node.consumer('urgent', 'default').taken()
    expect(worker.jobs).toEqual(['mail@urgent:1'])
  })

  test('of several queues gets held jobs of the last if the store has none', async () => {
    await lively(3)
    expect(await counts()).toMatchObject({ normal: 0 })
    const worker = await node.consumer('urgent', 'default').taken()
    expect(worker.jobs).toHaveLength(1)
  })

  test('gets jobs in order though some that were held go back', async () => {
    await lively(60)
    const seen: number[] = []
    const fetch = async () => {
      const worker = await node.consumer('default').taken()
      seen.push(worker.last.job.id)
      worker.complete('done')
    }
    // The first are held for 20 ms while later ones come.
    for (const pauseMs of [0, 0, 1, 0, 0, 18, 1, 0, 0, 1, 0, 0, 0, 25, 0, 0]) {
      await fetch()
      await cluster.pass(pauseMs)
    }
    const [first = 0] = seen
    expect(seen).toEqual(seen.map((_id, at) => first + at))
  })

  describe('whose queue is empty', () => {
    /** A client has pushed, fetched and ended jobs in turn, one in a millisecond. */
    async function inTurn(queues = ['default'], jobs = 24) {
      for (let at = 0; at < jobs; at += 1) {
        await node.submitted('mail', { door: 'faktory' })
        const worker = await node.consumer(...queues).taken()
        await worker.completed('done')
        await cluster.pass(1)
      }
      steps.splice(0)
    }

    test('gets a job that was claimed by the step that brought it', async () => {
      await inTurn(['default', 'low'])
      await node.submitted('mail', { door: 'faktory' })
      expect(steps).toHaveLength(1)
      expect(claims()).toMatchObject([{ max: 0, prefetch: 1 }])
      const worker = await fetchHeld(['default', 'low'])
      await worker.completed('done')
      expect(worker.settled).toEqual(['done'])
      expect(steps).toHaveLength(2)
    })

    test('waits for a job that is on its way with its submission', async () => {
      await inTurn()
      node.submit('mail', { door: 'faktory' })
      const worker = node.consumer('default')
      await worker.taken()
      expect(worker.jobs).toHaveLength(1)
    })

    test('gets no job that was submitted to another queue, for later, or for by-name workers', async () => {
      await inTurn()
      node.submit('mail@urgent', { door: 'faktory' })
      node.submit('mail', { door: 'faktory', dueAtMs: node.scheduler.storeNowMs() + 60_000 })
      await node.submitted('resize')
      expect(claims()).toEqual([])
    })

    test('gets none with submissions for a while after it did not fetch them', async () => {
      await inTurn()
      await node.submitted('mail', { door: 'faktory' })
      expect(await counts()).toMatchObject({ running: 1 })
      await cluster.pass(50)
      await cluster.turn()
      expect(await counts()).toMatchObject({ running: 0, normal: 1 })
      await inTurn()
      await node.submitted('mail', { door: 'faktory' })
      expect(claims()).toEqual([])
    })

    test.each([
      ['is paused', () => node.scheduler.queues.pause(['default'])],
      ['was closed', () => node.scheduler.closeLane('mail')],
    ])('gets none so if the queue %s', async (_how, act) => {
      await inTurn()
      const acting = act()
      await cluster.turn()
      await acting
      await node.submitted('mail')
      expect(await counts()).toMatchObject({ running: 0, normal: 1 })
    })

    test('gets none with submissions at the rate of a slow one', async () => {
      await inTurn(['default'], 3)
      await cluster.pass(windowMs - 4)
      await inTurn(['default'], 1)
      await node.submitted('mail', { door: 'faktory' })
      expect(claims()).toEqual([])
    })

    test('gets a job of a higher level first, though others were claimed before it came', async () => {
      await inTurn()
      const first = await node.submitted('mail', { door: 'faktory', level: 4 })
      const second = await node.submitted('mail', { door: 'faktory', level: 4 })
      expect(await counts()).toMatchObject({ running: 1 })
      const higher = await node.submitted('mail', { door: 'faktory', level: 5 })
      const seen: unknown[] = []
      for (let at = 0; at < 3; at += 1) {
        const worker = await node.consumer('default').taken()
        seen.push({ kind: 'created', id: worker.last.job.id })
      }
      expect(seen).toEqual([higher.result, first.result, second.result])
    })

    test('gets none with submissions if losses count', async () => {
      node = await cluster.node('b', { maxLosses: 3 })
      await inTurn()
      await node.submitted('mail', { door: 'faktory' })
      expect(await counts()).toMatchObject({ running: 0, normal: 1 })
    })
  })

  test('shares the held jobs of its first queue with consumers that name others behind it', async () => {
    await lively(30, ['default', 'low'])
    await fetchHeld(['default', 'low'])
    await fetchHeld(['default', 'high'])
    await fetchHeld()
  })
})
