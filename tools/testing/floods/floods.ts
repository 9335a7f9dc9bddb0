import type { Socket } from 'node:net'
import { packet, repeated } from './packets.ts'
import { ask, askForEver, openMany, pour } from './peer.ts'

/** Ports of a gateway under attack. */
export interface Ports {
  readonly gearman: number
  /** Speaks TLS for a flood that says so. */
  readonly faktory: number
  readonly http: number
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
function gearmanFlood(name: string, bytes: Buffer, first: Buffer = Buffer.alloc(0)): Flood {
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

const pipelined = 200
const pushedJobs = 100_000
const scheduledJobs = 200

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
  faktoryFlood('MUTATE with hard patterns', { first: longJobs(), next: withPattern, mark: '+OK' }),
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
