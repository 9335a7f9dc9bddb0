import { once } from 'node:events'
import type { Socket } from 'node:net'
import { headerOf, packet, repeated } from './packets.ts'
import { ask, askForEver, openMany, pour } from './peer.ts'

/** Ports of a gateway under attack. */
export interface Ports {
  readonly gearman: number
  /** Speaks TLS for a flood that says so. */
  readonly faktory: number
  readonly http: number
  readonly web: number
}

/** Bytes that never end, from a few connections of one machine. */
export interface Flood {
  readonly name: string
  /** The Faktory port is to speak TLS. false. */
  readonly tls?: boolean
  /** Begins; the connections flood until they are destroyed. */
  readonly begin: (ports: Ports) => Promise<readonly Socket[]>
}

const connections = 4
const fn = 'flood'

/** Connections that send the same bytes without an end, and read all answers. */
function gearmanFlood(
  name: string,
  bytes: Buffer | ((round: number) => Buffer),
  first: Buffer = Buffer.alloc(0),
): Flood {
  return {
    name,
    async begin({ gearman }) {
      const sockets = await openMany(gearman, connections)
      for (const socket of sockets) {
        socket.resume()
        socket.write(first)
        pour(socket, bytes)
      }
      return sockets
    },
  }
}

/** Names that no other flood has given. */
function freshNames(count: number): readonly string[] {
  const stem = Math.random().toString(36).slice(2, 10)
  return Array.from({ length: count }, (_none, at) => `${stem}-${at}`)
}

const pipelined = 200
const fetchedQueues = 20
const fetchesPerWrite = 50
const pushedJobs = 100_000
const scheduledJobs = 200
const piece = Buffer.alloc(64 * 1024, 'a')
/** Pieces of a packet's data, less than a gateway takes. */
const hugePieces = 960

interface FaktoryCommands {
  /** Before the flood. None. */
  readonly first?: string
  readonly next: (round: number) => string
  /** In each answer, once. */
  readonly mark: string
}

/** A Faktory client that sends each command when the one before is answered. */
function faktoryFlood(name: string, { first, next, mark }: FaktoryCommands): Flood {
  return {
    name,
    async begin({ faktory }) {
      const sockets = await openMany(faktory, 1)
      for (const socket of sockets) {
        await ask(socket, 'HELLO {"v":2}\r\n', '+OK')
        if (first !== undefined) await ask(socket, `${first}\r\n`, '{}')
        let round = 0
        const command = (): string => {
          round += 1
          return `${next(round)}\r\n`
        }
        askForEver(socket, command, mark)
      }
      return sockets
    },
  }
}

/** Faktory workers that fetch from queues which nobody has named before, without waiting for answers. */
function fetchFlood(): Flood {
  const fetches = (): Buffer => {
    const names = freshNames(fetchedQueues * fetchesPerWrite)
    const lines = Array.from({ length: fetchesPerWrite }, (_none, at) =>
      names.slice(at * fetchedQueues, (at + 1) * fetchedQueues).join(' '),
    )
    return Buffer.from(lines.map((queues) => `FETCH ${queues}\r\n`).join(''))
  }
  return {
    name: `FETCH of ${fetchedQueues} fresh queues`,
    async begin({ faktory }) {
      const sockets = await openMany(faktory, connections)
      for (const [at, socket] of sockets.entries()) {
        await ask(socket, `HELLO {"v":2,"wid":"flood-${at}"}\r\n`, '+OK')
        socket.resume()
        pour(socket, fetches)
      }
      return sockets
    },
  }
}

/** A client of the web port that sends its requests without waiting for answers. */
function webFlood(path: string): Flood {
  const requests = repeated(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`), 1_000)
  return {
    name: `GET ${path}, without waiting`,
    async begin({ web }) {
      const sockets = await openMany(web, connections)
      for (const socket of sockets) {
        socket.resume()
        pour(socket, requests)
      }
      return sockets
    },
  }
}

/** A worker that pours pieces of a result to a client that does not read. */
async function unreadResult(gearman: number, fn: string): Promise<readonly Socket[]> {
  const [client, worker] = await openMany(gearman, 2)
  if (!client || !worker) return []
  client.pause()
  client.write(packet('SUBMIT_JOB', fn, '', 'x'))
  worker.write(packet('CAN_DO', fn))
  const handle = await grabbed(worker)
  worker.resume()
  pour(worker, packet('WORK_DATA', handle, Buffer.alloc(60_000)))
  return [client, worker]
}

/** The handle of the job that a worker gets, which asks until there is one. */
async function grabbed(worker: Socket): Promise<string> {
  for (;;) {
    worker.write(packet('GRAB_JOB'))
    const [chunk] = (await once(worker, 'data')) as [Buffer]
    const [, handle] = /(H:[^\0]+)\0/.exec(chunk.toString('latin1')) ?? []
    if (handle !== undefined) return handle
  }
}

/** PUSHB of many jobs of a type that nobody has pushed before. */
function ofNewType(round: number): string {
  const type = `${Math.random().toString(36).slice(2, 8)}-${round}`
  const jobs = Array.from(
    { length: pushedJobs },
    (_none, at) => `{"jid":"${type}-${at}","jobtype":"${type}","args":[]}`,
  )
  return `PUSHB [${jobs.join(',')}]`
}

/** PUSHB of jobs with long payloads. */
function longJobs(): string {
  const sizes = [...Array.from({ length: scheduledJobs }, () => 30_000), 1_000_000]
  const due = '2999-01-01T00:00:00Z'
  const jobs = sizes.map(
    (size, at) =>
      `{"jid":"long-${at}000","jobtype":"${fn}","at":"${due}","args":["${'a'.repeat(size)}"]}`,
  )
  return `PUSHB [${jobs.join(',')}]`
}

/** Match no text of many `a`, in the hardest way. */
const patterns = [`${'*a'.repeat(40)}*b`, `*${'a'.repeat(990)}b*`]

function withPattern(round: number): string {
  const regexp = patterns[round % patterns.length]
  return `MUTATE ${JSON.stringify({ cmd: 'kill', target: 'scheduled', filter: { regexp } })}`
}

const noTime = ['0', '0', '1', '1', '']

/** Attacks that a gateway must withstand while it serves honest clients. */
export const floods: readonly Flood[] = [
  gearmanFlood('ECHO_REQ', repeated(packet('ECHO_REQ', 'x'), 1_000)),
  gearmanFlood(
    'GRAB_JOB and PRE_SLEEP',
    repeated(Buffer.concat([packet('GRAB_JOB'), packet('PRE_SLEEP')]), 500),
    packet('CAN_DO', fn),
  ),
  gearmanFlood(
    'CAN_DO and RESET_ABILITIES',
    repeated(Buffer.concat([packet('CAN_DO', fn), packet('RESET_ABILITIES')]), 500),
  ),
  gearmanFlood('SUBMIT_JOB_BG', repeated(packet('SUBMIT_JOB_BG', fn, '', 'x'), 500)),
  gearmanFlood('SUBMIT_JOB_BG of fresh names', () =>
    Buffer.concat(freshNames(500).map((name) => packet('SUBMIT_JOB_BG', name, '', 'x'))),
  ),
  gearmanFlood('CAN_DO of 900 fresh names and RESET_ABILITIES', () =>
    Buffer.concat([
      ...freshNames(900).map((name) => packet('CAN_DO', name)),
      packet('RESET_ABILITIES'),
    ]),
  ),
  gearmanFlood(
    'SUBMIT_JOB_SCHED',
    repeated(packet('SUBMIT_JOB_SCHED', fn, '', ...noTime, 'x'), 500),
  ),
  {
    name: `HTTP, ${pipelined} requests ahead`,
    async begin({ http }) {
      const head = `POST /${fn} HTTP/1.1\r\nX-Gearman-Background: true\r\nContent-Length: 1\r\n\r\nx`
      const requests = repeated(Buffer.from(head), pipelined)
      const sockets = await openMany(http, connections)
      for (const socket of sockets) {
        askForEver(socket, () => requests, 'HTTP/1.1 200', pipelined)
      }
      return sockets
    },
  },
  faktoryFlood('PUSHB, 100,000 jobs of a new type', { next: ofNewType, mark: '{}' }),
  fetchFlood(),
  faktoryFlood('MUTATE with hard patterns', { first: longJobs(), next: withPattern, mark: '+OK' }),
  {
    name: 'lines that do not end',
    async begin({ faktory }) {
      const sockets = await openMany(faktory, connections)
      for (const socket of sockets) {
        await ask(socket, 'HELLO {"v":2}\r\n', '+OK')
        socket.resume()
        pour(socket, piece)
      }
      return sockets
    },
  },
  {
    name: 'huge declared lengths',
    async begin({ gearman }) {
      const sockets = await openMany(gearman, connections)
      for (const socket of sockets) {
        socket.resume()
        socket.write(headerOf('SUBMIT_JOB_BG', (hugePieces + 1) * piece.length))
        for (let at = 0; at < hugePieces; at += 1) socket.write(piece)
      }
      return sockets
    },
  },
  {
    name: 'WORK_DATA of 60 KB to clients that do not read',
    async begin({ gearman }) {
      const names = freshNames(6)
      return (await Promise.all(names.map((name) => unreadResult(gearman, name)))).flat()
    },
  },
  webFlood('/metrics'),
  webFlood('/healthz'),
  {
    name: '200 connections that ask for /api/v1/events and do not read',
    async begin({ web }) {
      const sockets = await openMany(web, 200)
      const request = Buffer.from('GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
      for (const socket of sockets) {
        socket.pause()
        pour(socket, request)
      }
      return sockets
    },
  },
  {
    name: '5,000 idle connections',
    begin: ({ gearman }) => openMany(gearman, 5_000, '127.0.0.2'),
  },
  {
    name: 'replies that nobody reads',
    async begin({ gearman }) {
      const sockets = await openMany(gearman, 8)
      const echoes = repeated(packet('ECHO_REQ', Buffer.alloc(100_000)), 10)
      for (const socket of sockets) {
        socket.pause()
        pour(socket, echoes)
      }
      return sockets
    },
  },
  {
    name: '200 stalled TLS handshakes',
    tls: true,
    async begin({ faktory }) {
      const sockets = await openMany(faktory, 200)
      // The begin of a ClientHello of 512 bytes.
      for (const socket of sockets) socket.write(Buffer.from([22, 3, 1, 2, 0, 1]))
      return sockets
    },
  },
]
