import { beforeEach, describe, expect, test } from 'vitest'
import type { RedisStore } from '../../src/index.ts'
import { StoreError, type Store } from '@crossgear/core-scheduler'
import { aroundSteps, bytes, Cluster, type TestNode } from './harness.ts'

let cluster: Cluster
let node: TestNode

beforeEach(async () => {
  cluster = new Cluster()
  node = await cluster.node('a')
})

describe('a scheduler', () => {
  test('answers a submission with the job and its lane’s number once the store has it', async () => {
    const client = node.submit('mail')
    expect(client.result).toBeUndefined()
    await cluster.turn()
    expect(client.result).toEqual({ kind: 'created', id: 1 })
    expect(client.laneNumber).toBe(node.scheduler.registry.numberOf('mail'))
    expect(node.observer.of('submitted')).toEqual([
      { kind: 'submitted', lane: 'mail', door: 'gearman', how: 'created' },
    ])
  })

  test('hands each worker of one turn a job, in the order of their requests', async () => {
    for (let job = 0; job < 2; job += 1) node.submit('mail')
    await cluster.turn()
    const workers = [1, 2, 3].map(() => node.worker('mail').take())
    await cluster.turn()
    expect(workers.map(({ jobs }) => jobs)).toEqual([['mail:1'], ['mail:2'], []])
    expect(workers.map(({ nothings }) => nothings)).toEqual([0, 0, 1])
    expect(node.scheduler.running).toBe(2)
  })

  test('a worker that fails when it is handed its job costs no other of the same call theirs', async () => {
    for (let job = 0; job < 3; job += 1) node.submit('mail')
    await cluster.turn()
    const workers = [1, 2, 3].map(() => node.worker('mail'))
    const [first, failing, last] = workers
    if (failing) failing.fault = new Error('a mistake')
    for (const worker of workers) worker.take()
    await cluster.turn()
    expect([first?.jobs, failing?.jobs, last?.jobs]).toEqual([['mail:1'], [], ['mail:3']])
    expect([failing?.failures, failing?.refusals]).toEqual([[failing?.fault], []])
    expect(node.scheduler.running).toBe(2)
    const next = await node.worker('mail').taken()
    expect(next.jobs).toEqual(['mail:2'])
  })

  test('a worker is offered its functions in its order', async () => {
    node.submit('mail', { level: 9 })
    await node.submitted('sms', { level: 1 })
    const worker = await node.worker('sms', 'mail').taken()
    expect(worker.jobs).toEqual(['sms:1'])
  })

  test('a worker of a function takes from all its lanes; one of a lane from that alone', async () => {
    node.submit('mail@bulk')
    await node.submitted('mail')
    const bulk = await node.worker('mail@bulk').taken()
    const all = await node.worker('mail').taken()
    await node.submitted('mail@bulk')
    await all.taken()
    expect(bulk.jobs).toEqual(['mail@bulk:1'])
    expect(all.jobs).toEqual(['mail:1', 'mail@bulk:2'])
  })

  test('the clients of this node get an outcome once', async () => {
    const client = node.ask('mail')
    await cluster.pass(300)
    const worker = await node.worker('mail').taken()
    worker.complete('result')
    await cluster.pass(5_000)
    expect(client.events).toEqual(['mail:1 complete result'])
    expect(node.observer.of('ended')).toMatchObject([{ end: 'completed', lane: 'mail' }])
    expect(node.scheduler.running).toBe(0)
  })

  test('an outcome after the lease was lost is unknown and reaches no client', async () => {
    const client = await node.asked('mail')
    const worker = await node.worker('mail').taken()
    worker.release()
    await cluster.turn()
    await worker.completed('too late')
    expect(worker.settled).toEqual(['requeued', 'unknown'])
    expect(client.events).toEqual([])
  })

  test('a claimed job whose worker left meanwhile goes back, in front of those behind it', async () => {
    await node.submitted('mail')
    await node.submitted('mail')
    const leaver = node.worker('mail').take()
    cluster.clock.endOfTurn(() => (leaver.gone = true))
    await cluster.turn()
    expect(leaver.jobs).toEqual([])
    const other = await node.worker('mail').taken()
    expect(other.jobs).toEqual(['mail:1'])
    expect(other.last.job.losses).toBe(0)
  })

  test('a worker that left before the end of the turn costs no claim', async () => {
    await node.submitted('mail')
    node.worker('mail').take().gone = true
    await cluster.turn()
    expect(node.observer.of('assigned')).toEqual([])
    expect((await node.scheduler.jobs.counts(['mail']))[0]?.running).toBe(0)
  })

  test('a foreground client that left before the answer leaves no job behind', async () => {
    node.ask('mail').gone = true
    await cluster.turn()
    const worker = await node.worker('mail').taken()
    expect(worker.jobs).toEqual([])
    expect(await node.scheduler.jobs.look({ lane: 'mail', id: 1 })).toBeUndefined()
  })

  test('a client that leaves gets no more events, and its queued job is not run', async () => {
    const client = await node.asked('mail')
    node.scheduler.abandon(client, [{ lane: 'mail', id: 1 }])
    await cluster.turn()
    const worker = await node.worker('mail').taken()
    expect(worker.jobs).toEqual([])
    expect(client.events).toEqual([])
  })

  test('an error of the store reaches all callers and has no other effect', async () => {
    await node.submitted('mail')
    const holder = await node.worker('mail').taken()
    cluster.break('TIMEOUT')
    const client = node.ask('mail')
    const stranger = node.submit('unheard of')
    const worker = node.worker('mail').take()
    await holder.completed('lost')
    for (const refusal of [
      client.refusal,
      stranger.refusal,
      ...worker.refusals,
      ...holder.refusals,
    ]) {
      expect(refusal).toBeInstanceOf(StoreError)
      expect(refusal?.code).toBe('TIMEOUT')
    }
    expect([worker.refusals.length, holder.refusals.length]).toEqual([1, 1])
    expect(worker.nothings).toBe(0)
    cluster.mend()
    await cluster.turn()
    expect(node.observer.of('store').map(({ up }) => up)).toEqual([false, true])
    await holder.completed('again')
    expect(holder.settled).toEqual(['done'])
  })

  test("a broken store ends none of a node's background tasks", async () => {
    const worker = node.worker('mail').sleep()
    cluster.break()
    await cluster.pass(6_000)
    expect(node.observer.errors).toEqual(expect.arrayContaining(['beat', 'promote']))
    cluster.mend()
    await cluster.world.native.count('mail', 1)
    await node.submitted('mail')
    expect(worker.wakes).toBe(1)
    worker.sleep()
    const other = await cluster.node('b')
    worker.take()
    worker.sleep()
    await cluster.pass(2_000)
    const before = worker.wakes
    await other.submitted('mail')
    expect(worker.wakes).toBe(before + 1)
  })

  test('draining hands out nothing more and takes the outcomes of running jobs', async () => {
    for (let job = 0; job < 3; job += 1) node.submit('mail')
    await cluster.turn()
    const running = await node.worker('mail').taken()
    const waiting = node.worker('mail').take()
    node.scheduler.drain()
    const late = await node.worker('mail').taken()
    expect([waiting.jobs, late.jobs]).toEqual([[], []])
    expect([waiting.nothings, late.nothings]).toEqual([1, 1])
    const idle = node.scheduler.whenIdle()
    await running.completed('done')
    await idle
    expect(running.settled).toEqual(['done'])
  })

  test.each(['fetched', 'named'] as const)(
    'waiting for the last jobs ignores one that ended elsewhere: %s',
    async (kind) => {
      const other = await cluster.node('b')
      await node.submitted('mail', { door: 'faktory' })
      const worker = kind === 'named' ? node.worker('mail') : node.consumer('default')
      await worker.taken()
      expect(node.scheduler.running).toBe(1)
      const { lane, id, token } = worker.last.job
      await other.store.steps.finish(lane, [
        { lane, id, token, kind: 'complete', output: bytes('') },
      ])
      node.scheduler.drain()
      const idle = node.scheduler.whenIdle()
      await cluster.pass(1_001)
      await idle
      expect(node.scheduler.running).toBe(0)
    },
  )

  test('a long lease is confirmed by the store, or dropped', async () => {
    const other = await cluster.node('b')
    for (const lane of ['mail', 'mail']) node.submit(lane)
    await cluster.turn()
    const [one, two] = [node.worker('mail').take(), node.worker('mail').take()]
    await cluster.turn()
    const { lane, id, token } = one.last.job
    await other.store.steps.finish(lane, [{ lane, id, token, kind: 'complete', output: bytes('') }])
    await cluster.pass(50_000)
    expect(node.scheduler.running).toBe(2)
    await cluster.pass(12_000)
    expect(node.scheduler.running).toBe(1)
    await two.completed('done')
    expect(node.scheduler.running).toBe(0)
  })

  test('the end of a job is not lost if it overtakes the answer to the submission', async () => {
    cluster = new Cluster()
    const other = await cluster.node('b')
    const gate = new Gate()
    node = await cluster.node('a', {}, (store) => gate.around(store))
    const client = await node.asked('mail')
    const worker = await other.worker('mail').taken()
    await worker.completed('quick')
    expect(client.result).toBeUndefined()
    gate.open()
    await cluster.turn()
    expect(client.result?.kind).toBe('created')
    expect(client.events).toEqual(['mail:1 complete quick'])
  })
})

/** Keeps the answers to submissions back until it is opened. */
class Gate {
  readonly #opened: Promise<void>
  open: () => void = () => undefined

  constructor() {
    this.#opened = new Promise((resolve) => {
      this.open = resolve
    })
  }

  around(store: RedisStore): Store {
    return aroundSteps(store, async (step, send) => {
      const answer = await send(step)
      if (step.submissions.length > 0) await this.#opened
      return answer
    })
  }
}
