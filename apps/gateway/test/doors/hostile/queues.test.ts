import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import { expect, onTestFinished, test } from 'vitest'
import { EventStream, streamBounds } from '../../../src/web/api/event-stream.ts'
import { callBounds } from '../../../src/web/api/limits/call-cost.ts'
import { CallLimiter } from '../../../src/web/api/limits/call-limiter.ts'
import { People } from '../../../src/web/api/people.ts'
import { withTurns } from '../../../src/doors/http/request-turns.ts'
import { maxWaitingFetches, Session } from '../../../src/doors/faktory/session.ts'
import { Connection } from '../../../src/doors/net/connection.ts'
import { InputBudget } from '../../../src/doors/net/input-budget.ts'
import { Limiter } from '../../../src/doors/net/limiter.ts'
import type { ReplySlot } from '../../../src/doors/net/reply-slots.ts'
import { RoundRobin } from '../../../src/doors/net/round-robin.ts'
import { DeadJobNotices } from '../../../src/operations/notices/dead-job-notices.ts'
import { requestBounds } from '../../../src/web/web-server.ts'
import { portOfTest } from '../../support/port-of-test.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { TurnsByHand } from '../../support/turns-by-hand.ts'

const page = readFileSync(
  new URL('../../../../../docs/operate/security.md', import.meta.url),
  'utf8',
)
const kib = 1024
const mib = 1024 * kib
/** As a Gearman packet without arguments. */
const requestBytes = 12
/** Requests in one read of a socket. */
const requestsOfRead = Math.ceil((64 * 1024) / requestBytes)

/** Entries that stand in a queue once a peer has offered more than its bound, and its bound by the code. */
interface Filled {
  readonly held: number
  readonly bound: number
}

/** Each queue of the table in docs/operate/security.md, offered more than it takes. */
const queues: Readonly<Record<string, () => Promise<Filled>>> = {
  'requests of a Gearman or Faktory connection that wait for the store': async () => {
    const { peer, slots, socket } = await aPeer()
    peer.write(Buffer.alloc(20_000 * requestBytes))
    await expect.poll(() => slots.length).toBeGreaterThanOrEqual(10_000)
    await expect.poll(() => socket.isPaused()).toBe(true)
    return { held: slots.length, bound: 10_000 + requestsOfRead }
  },
  'answers that a Gearman or Faktory connection does not read': async () => {
    const { peer, connection, socket } = await aPeer()
    peer.pause()
    for (let sent = 0; sent < 16 && !socket.isPaused(); sent += 1) {
      connection.send(Buffer.alloc(mib))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(socket.isPaused()).toBe(true)
    return { held: socket.writableLength, bound: 16 * mib }
  },
  'FETCH commands of a Faktory connection that wait for jobs': async () => {
    let running = 0
    const context = {
      clock: new ManualClock(),
      helloWithinMs: 1,
      maxLineBytes: 1_000,
      handshake: { greeting: () => ({ hi: Buffer.alloc(0), admits: () => true }) },
      wrongPasswords: { isRefused: () => false, take: () => true },
      workers: { join: () => ({}), leave: () => undefined },
      state: { commands: 0 },
    }
    const connection = { send: () => undefined, keeps: () => undefined, address: '' }
    const fetch = (session: Session): void => {
      running += 1
      session.fetches.add({} as never)
    }
    const session = new Session(connection as never, context as never, { FETCH: fetch } as never)
    session.data(Buffer.from(`HELLO {"v":2}\r\n${'FETCH\r\n'.repeat(5_000)}`))
    for (let turn = 0; turn < 100; turn += 1) session.work(128)
    return Promise.resolve({ held: running, bound: maxWaitingFetches })
  },
  'results of a worker that its clients do not read': async () => {
    const { connection, socket } = await aPeer()
    let held = 0
    for (; held < 64 * mib && !socket.isPaused(); held += kib) connection.countUnread(kib)
    return { held, bound: 256 * kib + kib }
  },
  'half packets and waiting requests of all connections of a door': () => {
    const budget = new InputBudget(512 * mib)
    const evicted: number[] = []
    for (let at = 0; at < 20; at += 1) {
      const holder = {
        address: '127.0.0.1',
        setMayRead: () => undefined,
        evict: () => void evicted.push(at),
      }
      budget.keep(holder, 64 * mib)
    }
    return Promise.resolve({ held: 20 - evicted.length, bound: 8 })
  },
  'long half packets of an address that are read at a time': () => {
    const budget = new InputBudget(512 * mib, new ManualClock())
    let reading = 0
    for (let at = 0; at < 20; at += 1) {
      let mayRead = true
      const holder = {
        address: '127.0.0.1',
        setMayRead: (may: boolean) => {
          reading += Number(may) - Number(mayRead)
          mayRead = may
        },
        evict: () => undefined,
      }
      reading += 1
      budget.keep(holder, 2 * mib)
    }
    return Promise.resolve({ held: reading, bound: 1 })
  },
  'connections that take turns': () => {
    const hand = new TurnsByHand()
    const sources = Array.from({ length: 5_000 }, () => ({ work: () => false }))
    for (let round = 0; round < 3; round += 1) for (const one of sources) hand.turns.add(one)
    let turns = 0
    for (; hand.areAwaited; turns += 1) hand.take()
    // Eight connections a turn where nobody else is served.
    return Promise.resolve({ held: turns * 8, bound: sources.length })
  },
  'commands of a Gearman connection that run one after the other': async () => {
    const limiter = new Limiter(1)
    let running = 0
    const order: number[] = []
    await Promise.all(
      Array.from({ length: 10_000 }, (_none, at) =>
        limiter.run(() => {
          running += 1
          order.push(at)
          expect(running).toBe(1)
          running -= 1
          return Promise.resolve()
        }),
      ),
    )
    expect(order).toEqual([...order].sort((one, other) => one - other))
    return { held: order.length, bound: 10_000 }
  },
  'requests of a web connection': async () => {
    const held: ServerResponse[] = []
    const server = withTurns(
      createServer((_request, response) => void held.push(response)),
      new RoundRobin(),
      requestBounds,
    )
    const port = await portOfTest(server)
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    let answers = ''
    socket.on('data', (chunk) => (answers += String(chunk)))
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000))
    await expect.poll(() => held.length).toBe(100)
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    const most = held.length
    for (let at = 0; at < 1_000; at += 1) {
      await expect.poll(() => held.length).toBeGreaterThan(at)
      held[at]?.end('well')
    }
    await expect.poll(() => answers.split('well').length).toBe(1_001)
    return { held: most, bound: requestBounds.unanswered }
  },
  'API calls': async () => {
    const { atOnce, waiting } = callBounds.light
    const limiter = new CallLimiter({ ...callBounds.light, burstUnits: 1e9 }, () => 0)
    const release: (() => void)[] = []
    const call = () => limiter.run(() => new Promise<void>((resolve) => release.push(resolve)))
    const calls = Array.from({ length: 500 }, () =>
      call().then(
        () => 'done',
        () => 'refused',
      ),
    )
    await expect.poll(() => release.length).toBe(atOnce)
    for (let done = 0; done < atOnce + waiting; done += 1) {
      await expect.poll(() => release.length).toBeGreaterThan(0)
      release.shift()?.()
    }
    const ends = await Promise.all(calls)
    return { held: ends.filter((end) => end === 'done').length, bound: atOnce + waiting }
  },
  'viewers of events': () => {
    const events = new EventStream({
      call: () => Promise.resolve({ status: 200, body: {} }),
    })
    onTestFinished(() => events.close())
    let viewers = 0
    for (; viewers < 1_000; viewers += 1) {
      try {
        events.checkRoom()
      } catch {
        break
      }
      events.add({ ...aResponse } as never)
    }
    return Promise.resolve({ held: viewers, bound: streamBounds.viewers })
  },
  'passwords of people that are checked': async () => {
    const people = new People(new Map(), () => 0)
    const tried = Array.from({ length: 50 }, () =>
      people.verify('nobody', 'x').then(
        () => 'checked',
        () => 'refused',
      ),
    )
    const ends = await Promise.all(tried)
    return { held: ends.filter((end) => end === 'checked').length, bound: 8 }
  },
  'notices of dead jobs': async () => {
    const target = { url: new URL('http://127.0.0.1:1/'), isPrivate: true } as never
    const notices = new DeadJobNotices(target, {
      clock: new ManualClock(),
      wallNowMs: () => 0,
      log: recordingLog().log,
      agent: 'test',
      textOf: () => new Promise(() => undefined),
    })
    for (let id = 0; id < 11_000; id += 1) notices.died({ lane: 'f', id })
    const [ends, waiting] = await Promise.all(
      notices
        .figures()
        .map(async (figure) => (await figure.get()).values.map(({ value }) => value)),
    )
    expect(ends).toEqual([0, 0, 1_000, 0])
    return { held: Number(waiting?.[0]), bound: 10_000 }
  },
}

const listed = (page.split('\n### Queues that a peer can fill\n')[1] ?? '')
  .split('\n#')[0]!
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|')[1]!.trim())
  .slice(2)

test('docs/operate/security.md lists each queue that a peer can fill', () => {
  expect(listed).toEqual(Object.keys(queues))
})

test.each(Object.entries(queues))('%s: bounded, whatever a peer offers', async (_name, fill) => {
  const { held, bound } = await fill()
  expect(held).toBeGreaterThan(0)
  expect(held).toBeLessThanOrEqual(bound)
})

/** Takes whatever is written. */
const aResponse = {
  writableLength: 0,
  writeHead: () => undefined,
  write: () => true,
  on: () => undefined,
  end: () => undefined,
}

/** A peer whose requests all wait. */
async function aPeer() {
  const server = createServer().removeAllListeners('connection')
  const port = await portOfTest(server)
  const peer = connect(port, '127.0.0.1')
  peer.on('error', () => undefined)
  onTestFinished(() => void peer.destroy())
  const [socket] = (await once(server, 'connection')) as [Socket]
  const slots: ReplySlot[] = []
  const connection = new Connection(socket, (owner) => ({
    data: (chunk) => {
      for (let at = 0; at < chunk.length; at += requestBytes) slots.push(owner.reserve())
    },
    work: () => 'none',
    closed: () => undefined,
  }))
  return { peer, socket, slots, connection }
}
