import { ManualClock } from '@crossgear/store-testkit'
import {
  type Assignment,
  type Delivery,
  type Scheduler,
  type Settlement,
  StoreError,
} from '@crossgear/core-scheduler'
import type { Hello } from '@crossgear/fwp-codec'
import { beforeEach, describe, expect, test } from 'vitest'
import { type GoingAway, type WorkerConnection, Workers } from '../../../src/faktory/workers.ts'

const deadAfterMs = 60_000
const reapEveryMs = 1_000

class TestConnection implements WorkerConnection {
  readonly peer = '127.0.0.1:1'
  timesQuieted = 0
  drops = 0

  quieted(): void {
    this.timesQuieted += 1
  }

  drop(): void {
    this.drops += 1
  }
}

const hello = (wid?: string): Hello => ({ wid, labels: [] }) as unknown as Hello

function delivery(id: number, door = 'faktory'): Delivery {
  const job = { lane: 'mail', id, door, token: `ca-${id}`, input: Buffer.from('in') }
  return { job, sinceMs: 0 } as unknown as Delivery
}

describe('the workers of a node', () => {
  let clock: ManualClock
  let workers: Workers
  let leaving: GoingAway[]
  /** Consumers by queue, as the scheduler counts them. */
  let counted: Record<string, number>
  let disconnected: string[]
  /** Jobs given back, and whether the store takes them. */
  let released: number[]
  let isAway: boolean
  const open = (givesBack: boolean): void => {
    clock = new ManualClock()
    leaving = []
    counted = {}
    disconnected = []
    released = []
    isAway = false
    const scheduler = {
      holders: {
        nameOf: (wid = '-') => `w${wid}`,
        disconnected: (holder: string) => void disconnected.push(holder),
      },
      countConsumer: (queue: string, change: number) => {
        counted[queue] = (counted[queue] ?? 0) + change
      },
      release: ({ job }: Assignment, _lost: boolean, settlement: Settlement) => {
        if (isAway) settlement.refused(new StoreError('UNREACHABLE', 'away'))
        else {
          released.push(job.id)
          settlement.settled('requeued')
        }
      },
    } as unknown as Scheduler
    workers = new Workers({
      ...{ scheduler, clock, deadAfterMs, reapEveryMs, givesBack },
      goingAway: (worker) => void leaving.push(worker),
    })
    workers.watch()
  }
  beforeEach(() => open(false))

  /** A worker whose connection has ended while it held a job. */
  function gone(wid: string) {
    const connection = new TestConnection()
    const worker = workers.join(hello(wid), connection)
    worker.held.hold('jid-1', delivery(1))
    workers.leave(worker, connection)
    return worker
  }

  test('are forgotten when they go without a job', () => {
    const connections = [new TestConnection(), new TestConnection()] as const
    const [worker] = connections.map((connection) => workers.join(hello('one'), connection))
    expect(workers.find('one')).toBe(worker)
    workers.leave(worker!, connections[0])
    expect([workers.size, disconnected]).toEqual([1, []])
    workers.leave(worker!, connections[1])
    expect([workers.size, disconnected, leaving]).toEqual([0, ['wone'], []])
  })

  test('that go with jobs are known, and told of, until they are silent for too long', async () => {
    const worker = gone('one')
    expect(leaving).toEqual([{ wid: 'one', how: 'gone', jobs: 1 }])
    await clock.advance(deadAfterMs - reapEveryMs)
    expect(workers.find('one')).toBe(worker)
    await clock.advance(reapEveryMs)
    expect([workers.find('one'), workers.size, workers.reaped]).toEqual([undefined, 0, 1])
    await clock.advance(deadAfterMs)
    expect(workers.reaped).toBe(1)
  })

  test('that are silent are dropped, at any time; those that send BEAT are not', async () => {
    const [silent, beating] = [new TestConnection(), new TestConnection()]
    workers.join(hello('silent'), silent)
    await clock.advance(10 * reapEveryMs)
    workers.join(hello('beating'), beating)
    for (let ms = 0; ms < 2 * deadAfterMs; ms += deadAfterMs / 2) {
      workers.beat({ wid: 'beating' })
      await clock.advance(deadAfterMs / 2)
    }
    expect([silent.drops, beating.drops, workers.find('silent')]).toEqual([1, 0, undefined])
  })

  describe('that give jobs of producers back', () => {
    beforeEach(() => open(true))

    test('do so when their connections have been gone for so long, once', async () => {
      await clock.advance(deadAfterMs / 2)
      const worker = gone('one')
      worker.held.hold('jid-2', delivery(2, 'gearman'))
      await clock.advance(deadAfterMs - reapEveryMs)
      expect(released).toEqual([])
      await clock.advance(reapEveryMs)
      // Jobs of other doors go another way.
      expect(released).toEqual([1])
      expect(worker.held.find('jid-1')?.fenced).toBe(true)
      await clock.advance(deadAfterMs)
      expect([released, workers.size, workers.reaped]).toEqual([[1], 0, 1])
    })

    test('keep them if the same wid connects in time, here or elsewhere', async () => {
      gone('here')
      gone('there')
      await clock.advance(deadAfterMs - reapEveryMs)
      workers.join(hello('here'), new TestConnection())
      workers.onNews('there', 'back')
      await clock.advance(deadAfterMs - reapEveryMs)
      expect(released).toEqual([])
    })

    test('keep them for that time again when the store is back, and ask again where it is not', async () => {
      gone('one')
      await clock.advance(deadAfterMs - reapEveryMs)
      workers.storeIsBack()
      isAway = true
      await clock.advance(deadAfterMs - reapEveryMs)
      expect(released).toEqual([])
      await clock.advance(reapEveryMs)
      isAway = false
      await clock.advance(deadAfterMs)
      expect(released).toEqual([1])
    })

    test('lose their connections first where they hang', async () => {
      const connection = new TestConnection()
      const worker = workers.join(hello('hung'), connection)
      worker.held.hold('jid-1', delivery(1))
      await clock.advance(deadAfterMs)
      expect([connection.drops, released]).toEqual([1, []])
      workers.leave(worker, connection)
      await clock.advance(deadAfterMs)
      expect([released, workers.reaped]).toEqual([[1], 1])
    })

    test('have none without a wid', async () => {
      const connection = new TestConnection()
      const worker = workers.join(hello(), connection)
      worker.held.hold('jid-1', delivery(1))
      workers.leave(worker, connection)
      await clock.advance(3 * deadAfterMs)
      expect(released).toEqual([])
    })
  })

  test('begin anew when another process takes the wid', async () => {
    const worker = gone('one')
    worker.advance('terminate')
    await clock.advance(deadAfterMs - reapEveryMs)
    expect(workers.join(hello('one'), new TestConnection())).toBe(worker)
    expect(worker.state).toBe('running')
    await clock.advance(deadAfterMs - reapEveryMs)
    expect(workers.find('one')).toBe(worker)
  })

  test('advance to a later state only, and their connections hear of it once', () => {
    const connection = new TestConnection()
    const worker = workers.join(hello('one'), connection)
    workers.beat({ wid: 'one', state: 'terminate' })
    workers.beat({ wid: 'one', state: 'quiet' })
    workers.onNews('*', 'quiet')
    expect([worker.state, connection.timesQuieted]).toEqual(['terminate', 1])
  })

  test('count once for each queue, as long as they are connected', () => {
    const [one, two] = [new TestConnection(), new TestConnection()]
    const worker = workers.join(hello('one'), one)
    workers.join(hello('one'), two)
    for (let fetches = 0; fetches < 3; fetches += 1) worker.count(['default', 'bulk'])
    expect(counted).toEqual({ default: 1, bulk: 1 })
    workers.leave(worker, one)
    expect(counted).toEqual({ default: 1, bulk: 1 })
    workers.leave(worker, two)
    workers.leave(worker, two)
    expect([counted, worker.queues]).toEqual([{ default: 0, bulk: 0 }, []])
    workers.join(hello('one'), one).count(['default'])
    expect(counted).toEqual({ default: 1, bulk: 0 })
  })
})
