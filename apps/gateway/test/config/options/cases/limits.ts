import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type ListenOptions, Server } from 'node:net'
import { expect, onTestFinished, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import type { GearmanPeer } from '../../../doors/gearman/support/gearman-peer.ts'
import { ask, background } from '../../../doors/http/support/http-client.ts'
import type { Flags, Open } from '../composed-gateway.ts'
import type { Cases } from './case.ts'

const slow = 'crossgear_rejected_total{door="gearman",reason="slow"} 1'

/** The result of a packet, for the client or the connection. */
const answerOr = async (peer: GearmanPeer, asked: Promise<readonly string[]>): Promise<string> =>
  (await Promise.race([asked, peer.ended().then(() => ['closed'])]))[0] ?? ''

/** Asks for so many megabytes and reads nothing. */
async function stallPeer(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.pause()
  const head = Buffer.from([0, 0x52, 0x45, 0x51, 0, 0, 0, 16, 0, 0x10, 0, 0])
  for (let sent = 0; sent < 24; sent += 1)
    socket.write(Buffer.concat([head, Buffer.alloc(1 << 20)]))
}

/** A peer that reads nothing is dropped, and counted. */
async function dropsStalled(open: Open, flags: Flags): Promise<void> {
  const gateway = await open(flags)
  await stallPeer(gateway.port('gearman'))
  await expect.poll(() => gateway.metrics(), soon).toContain(slow)
}

/** Options that bound what comes from outside. */
export const limitCases = (open: Open): Cases => ({
  ...Object.fromEntries(
    ['maxConnections', 'maxConnectionsPerAddress'].map((name) => [
      name,
      async () => {
        const second = async (max: string): Promise<string> => {
          const gateway = await open({ [name]: max })
          await (await gateway.peer()).sync()
          const peer = await gateway.peer()
          return answerOr(peer, peer.ask('ECHO_REQ', 'x'))
        }
        expect([await second('1'), await second('2')]).toEqual(['closed', 'ECHO_RES'])
      },
    ]),
  ),
  backlog: async () => {
    const listen = vi.spyOn(Server.prototype, 'listen')
    onTestFinished(() => listen.mockRestore())
    /** The backlogs of all doors. */
    const backlogs = async (flags: Flags): Promise<unknown> => {
      listen.mockClear()
      await open(flags)
      return new Set(listen.mock.calls.map(([options]) => (options as ListenOptions).backlog))
    }
    expect(await backlogs({})).toEqual(new Set([1024]))
    expect(await backlogs({ backlog: '7' })).toEqual(new Set([7]))
  },
  keepaliveSeconds: async () => {
    /** Timers of the gateway's ends of Gearman connections: the kind, and in how many of these seconds each is due. */
    const timers = async (flags: Flags, seconds: number): Promise<unknown> => {
      const gateway = await open(flags)
      await (await gateway.peer()).sync()
      // 127.0.0.1 as Linux writes it: clients at other addresses may have the same port.
      const port = gateway.port('gearman').toString(16).toUpperCase().padStart(4, '0')
      const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n')
      return rows
        .map((row) => row.trim().split(/\s+/))
        .filter(([, local, , state]) => local === `0100007F:${port}` && state === '01')
        .map(([, , , , , timer = '']) => timer.split(':'))
        .map(([kind, ticks = '']) => [kind, Math.round(parseInt(ticks, 16) / 100 / seconds)])
    }
    const ofKeepalive = '02'
    expect(await timers({}, 60)).toEqual([[ofKeepalive, 1]])
    expect(await timers({ keepaliveSeconds: '30000' }, 30_000)).toEqual([[ofKeepalive, 1]])
  },
  maxPacketBytes: async () => {
    const answered = async (maxPacketBytes: string): Promise<string> => {
      const peer = await (await open({ maxPacketBytes })).peer()
      return answerOr(peer, peer.ask('ECHO_REQ', 'x'.repeat(2_000)))
    }
    expect([await answered('1024'), await answered('4096')]).toEqual(['closed', 'ECHO_RES'])
  },
  maxFunctions: async () => {
    const named = async (maxFunctions: string): Promise<string | undefined> => {
      const gateway = await open({ maxFunctions })
      await (await gateway.peer('a', 'b')).sync()
      return /reason="too_many_functions"\} (\d)/.exec(await gateway.metrics())?.[1]
    }
    expect([await named('1'), await named('2')]).toEqual(['1', undefined])
  },
  maxNewFunctionsPerAddress: async () => {
    const gateway = await open({ maxNewFunctionsPerAddress: '1' })
    const peer = await gateway.peer('first of its address')
    await peer.sync()
    const client = await gateway.faktory({})
    const answers = async (fn: string) => [
      (await peer.ask('SUBMIT_JOB_BG', fn, '', 'x')).slice(0, 2).join(' '),
      await client.push(`jid-${fn}`, { jobtype: fn }),
      (await ask(gateway.port('http'), `/${fn}`)).status,
    ]
    expect(await answers('second-of-its-address')).toEqual([
      'ERROR TOO_MANY_FUNCTIONS',
      '-ERR too many job types: no more new ones from your address',
      429,
    ])
    const worker = await gateway.peer('third of its address')
    await worker.sync()
    const rejected = /^crossgear_rejected_total\{door="(\w+)",reason="new_function_limit"\} (\d+)/gm
    const counted = [...(await gateway.metrics()).matchAll(rejected)].map(([, door, n]) => [
      door,
      n,
    ])
    expect(counted.sort()).toEqual([
      ['faktory', '1'],
      ['gearman', '2'],
      ['http', '1'],
    ])
    const other = await open({ maxNewFunctionsPerAddress: '0' })
    const free = await other.peer('fourth of its address', 'fifth of its address')
    expect((await free.ask('ECHO_REQ', 'x'))[0]).toBe('ECHO_RES')
  },
  metricsFunctions: async () => {
    const labels = async (metricsFunctions: string): Promise<unknown> => {
      const gateway = await open({ metricsFunctions })
      const peer = await gateway.peer()
      for (const fn of ['a', 'b']) await peer.submit('SUBMIT_JOB_BG', fn, '', 'x')
      const page = await gateway.metrics()
      const found = page.matchAll(/^crossgear_jobs_submitted_total\{function="(\w+)"/gm)
      return [...found].map(([, label]) => label)
    }
    expect([await labels('1'), await labels('2')]).toEqual([
      ['a', 'other'],
      ['a', 'b'],
    ])
  },
  maxBufferedBytes: async () => {
    const posted = async (maxBufferedBytes: string): Promise<number | undefined> => {
      const gateway = await open({ maxBufferedBytes })
      const body = Buffer.alloc(2 << 20)
      return (await ask(gateway.port('http'), '/f', { headers: background }, body)).status
    }
    expect([await posted('1048576'), await posted('8388608')]).toEqual([503, 200])
  },
  maxUnsentBytes: () => dropsStalled(open, { maxUnsentBytes: '65536' }),
  stallSeconds: () => dropsStalled(open, { stallSeconds: '1' }),
  handshakeSeconds: async () => {
    const [late, soon] = [
      await open({ handshakeSeconds: '2' }),
      await open({ handshakeSeconds: '1' }),
    ]
    const first = (await late.faktory()).closed().then(() => 'late')
    const second = (await soon.faktory()).closed().then(() => 'soon')
    expect(await Promise.race([first, second])).toBe('soon')
  },
})
