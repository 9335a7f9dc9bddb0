import { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import {
  type Assignment,
  type Delivery,
  type Scheduler,
  type Settlement,
  StoreError,
} from '@crossgear/core-scheduler'
import type { Hello } from '@crossgear/fwp-codec'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type GoingAway,
  type WorkerConnection,
  Workers,
} from '../../../../src/doors/faktory/workers.ts'

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
  let connected: string[]
  let told: unknown[]
  /** Tokens of leases that have ended. */
  let ended: Set<string>
  /** Jobs given back, and whether the store takes them. */
  let released: number[]
  let isAway: boolean
  const open = (givesBack: boolean): void => {
    clock = new ManualClock()
    leaving = []
    counted = {}
    disconnected = []
    connected = []
    told = []
    ended = new Set()
    released = []
    isAway = false
    const scheduler = {
      holders: {
        nameOf: (wid = '-') => `w${wid}`,
        connected: (holder: string) => void connected.push(holder),
        disconnected: (holder: string, hasGone: boolean) =>
          void disconnected.push(hasGone ? holder : `${holder} cut off`),
      },
      queues: { notify: (...news: unknown[]) => void told.push(news) },
      isHeld: (token: string) => !ended.has(token),
      countConsumer: (queue: string, change: number) => {
        counted[queue] = (counted[queue] ?? 0) + change
      },
      release: ({ job }: Assignment, _lost: boolean, settlement: Settlement) => {
        if (isAway) settlement.refused(new StoreError('UNREACHABLE', 'away'), false)
        else {
          released.push(job.id)
          ended.add(job.token)
          settlement.settled('requeued')
        }
      },
    } as unknown as Scheduler
    workers = new Workers({
      scheduler,
      clock,
      deadAfterMs,
      reapEveryMs,
      givesBack,
      goingAway: (worker) => void leaving.push(worker),
    })
    workers.watch()
  }
  beforeEach(() => open(false))

  /** A worker whose connection has ended while it held a job. */
  function gone(wid: string, byPeer = true) {
    const connection = new TestConnection()
    const worker = workers.join(hello(wid), connection)
    worker.held.hold('jid-1', delivery(1))
    workers.leave(worker, connection, byPeer)
    return worker
  }

  test('are forgotten when they go without a job', () => {
    const connections = [new TestConnection(), new TestConnection()] as const
    const [worker] = connections.map((connection) => workers.join(hello('one'), connection))
    expect(workers.find('one')).toBe(worker)
    workers.leave(worker!, connections[0], true)
    expect([workers.size, connected, disconnected]).toEqual([1, ['wone'], []])
    workers.leave(worker!, connections[1], true)
    expect([workers.size, disconnected, leaving]).toEqual([0, ['wone'], []])
    expect(told).toEqual([
      ['one', 'back'],
      ['one', 'gone'],
    ])
  })

  test.each([
    [true, 'gone', 'wone', 1],
    [false, 'cut off', 'wone cut off', 0],
  ] as const)(
    'that go with jobs are told of, and known while these stand: by themselves %j',
    async (byPeer, how, holder, reaped) => {
      const worker = gone('one', byPeer)
      expect([leaving, disconnected]).toEqual([[{ wid: 'one', how, jobs: 1 }], [holder]])
      await clock.advance(2 * deadAfterMs)
      expect([workers.find('one'), workers.reaped]).toEqual([worker, reaped])
      ended.add('ca-1')
      await clock.advance(reapEveryMs)
      expect([workers.size, workers.reaped]).toEqual([0, reaped])
    },
  )

  test('that are silent are dropped, at any time; those that send BEAT are not', async () => {
    const [silent, beating] = [new TestConnection(), new TestConnection()]
    workers.join(hello('silent'), silent)
    await clock.advance(10 * reapEveryMs)
    workers.join(hello('beating'), beating)
    for (let ms = 0; ms < 2 * deadAfterMs; ms += deadAfterMs / 2) {
      workers.beat({ wid: 'beating' })
      await clock.advance(deadAfterMs / 2)
    }
    expect(silent.drops).toBeGreaterThan(0)
    expect([beating.drops, workers.reaped]).toEqual([0, 1])
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
      ended.add('ca-2')
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

    test('keep them where they are silent, though they lose their connections', async () => {
      const connection = new TestConnection()
      const worker = workers.join(hello('hung'), connection)
      worker.held.hold('jid-1', delivery(1))
      await clock.advance(deadAfterMs)
      expect(connection.drops).toBe(1)
      workers.leave(worker, connection, false)
      await clock.advance(10 * deadAfterMs)
      expect([released, workers.find('hung')]).toEqual([[], worker])
      // The worker comes back, and goes by itself.
      workers.join(hello('hung'), connection)
      workers.leave(worker, connection, true)
      await clock.advance(deadAfterMs)
      expect([released, workers.reaped]).toEqual([[1], 2])
    })

    test('do so for those that close their last connection to another node', async () => {
      gone('one', false)
      workers.onNews('one', 'back')
      await clock.advance(2 * deadAfterMs)
      workers.onNews('one', 'gone')
      await clock.advance(deadAfterMs - reapEveryMs)
      expect(released).toEqual([])
      await clock.advance(reapEveryMs)
      expect(released).toEqual([1])
    })

    test('say of those that left another node alone that they are here', async () => {
      workers.join(hello('one'), new TestConnection())
      told = []
      workers.onNews('one', 'gone')
      expect(told).toEqual([['one', 'back']])
      workers.onNews('stranger', 'gone')
      expect(told).toHaveLength(1)
    })

    test('have none without a wid', async () => {
      const connection = new TestConnection()
      const worker = workers.join(hello(), connection)
      worker.held.hold('jid-1', delivery(1))
      workers.leave(worker, connection, true)
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
    workers.leave(worker, one, true)
    expect(counted).toEqual({ default: 1, bulk: 1 })
    workers.leave(worker, two, true)
    workers.leave(worker, two, true)
    expect([counted, worker.queues]).toEqual([{ default: 0, bulk: 0 }, []])
    workers.join(hello('one'), one).count(['default'])
    expect(counted).toEqual({ default: 1, bulk: 0 })
  })
})
