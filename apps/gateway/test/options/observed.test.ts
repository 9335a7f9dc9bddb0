import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { flagOf, optionNames, variablesOf, type OptionName } from '../../src/config/options.ts'
import { GearmanPeer } from '../gearman/support/gearman-peer.ts'
import { ask } from '../http/support/http-client.ts'
import { startGateway } from '../support/gateway-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { lacksOpenssl, makeCertificates } from '../tls/support/certificates.ts'
import { openOn } from './composed-gateway.ts'
import { optionCases, type ElsewhereCase } from './option-cases.ts'

const testFolder = new URL('../', import.meta.url)
const patience = { timeout: 20_000, interval: 20 }
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

let redis: RedisServer
const open = openOn(() => `unix://${redis.path}`)
const missing: Partial<Record<OptionName, boolean>> = {
  adminFrom: outside === undefined,
  keepaliveSeconds: !existsSync('/proc/net/tcp'),
  gearmanTlsCa: lacksOpenssl,
  gearmanTlsVerifyClients: lacksOpenssl,
}

/** The result of a packet, for the client or the connection. */
const answerOr = async (peer: GearmanPeer, asked: Promise<readonly string[]>): Promise<string> =>
  (await Promise.race([asked, peer.ended().then(() => ['closed'])]))[0] ?? ''

/** Payloads that a worker of the functions is given, one after the other. */
async function grabAll(worker: GearmanPeer, count: number): Promise<string[]> {
  const payloads: string[] = []
  while (payloads.length < count) payloads.push((await worker.ask('GRAB_JOB')).at(-1) ?? '')
  return payloads
}

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

const slow = 'crossgear_rejected_total{door="gearman",reason="slow"} 1'
const webAlone = ['--gearman-port', 'off', '--faktory-port', 'off', '--web-port', '0']

/** A gateway of a process with what the command line says, on a store of its own. */
function ownProcess(...words: readonly string[]): ReturnType<typeof startGateway> {
  const gateway = startGateway(words)
  onTestFinished(async () => {
    gateway.child.kill('SIGKILL')
    await gateway.exited
  })
  return gateway
}

const doorCase = (option: OptionName, door: string) => async (): Promise<void> => {
  expect((await open({ [option]: '0' })).doors).toContain(door)
  expect((await open({ [option]: 'off' })).doors).not.toContain(door)
}

const cases: Readonly<Partial<Record<OptionName, () => Promise<void>>>> = {
  gearmanPort: doorCase('gearmanPort', 'gearman'),
  faktoryPort: doorCase('faktoryPort', 'faktory'),
  httpPort: doorCase('httpPort', 'http'),
  redisUrl: async () => {
    const client = await (await open()).peer()
    await client.submit('SUBMIT_JOB_BG', 'seen', '', 'x')
    expect(await redis.ask('LLEN', 'queue:seen:normal')).toBe('1')
  },
  handlePrefix: async () => {
    const client = await (await open({ handlePrefix: 'mine' })).peer()
    expect(await client.submit('SUBMIT_JOB_BG', 'f', '', 'x')).toMatch(/^mine:\w+:\d+$/)
  },
  adminFrom: async () => {
    const changing = async (adminFrom?: string): Promise<string> => {
      const gateway = await open({
        host: '0.0.0.0',
        faktoryPort: 'off',
        ...(adminFrom && { adminFrom }),
      })
      const socket = connect(gateway.port('gearman'), outside)
      onTestFinished(() => void socket.destroy())
      socket.write('create function made\n')
      const [reply] = (await once(socket, 'data')) as [Buffer]
      return reply.toString().slice(0, 3)
    }
    expect([await changing(), await changing(outside)]).toEqual(['ERR', 'OK\r'])
  },
  jobRetries: async () => {
    const lost = async (jobRetries: string): Promise<string | undefined> => {
      const gateway = await open({ jobRetries })
      const [client, worker, next] = [
        await gateway.peer(),
        await gateway.peer('f'),
        await gateway.peer('f'),
      ]
      await client.submit('SUBMIT_JOB', 'f', '', 'x')
      await worker.ask('GRAB_JOB')
      next.say('PRE_SLEEP')
      await next.sync()
      await worker.leave()
      return (await Promise.race([client.hear(), next.hear()]))[0]
    }
    expect([await lost('1'), await lost('0')]).toEqual(['WORK_FAIL', 'NOOP'])
  },
  workerWakeup: async () => {
    const woken = async (workerWakeup: string): Promise<number> => {
      const gateway = await open({ workerWakeup })
      // The lane is known and watched before anybody sleeps: a look at a new one may wake more.
      const [early, client] = [await gateway.peer('w'), await gateway.peer()]
      await client.submit('SUBMIT_JOB_BG', 'w', '', 'first')
      const [, handle = ''] = await early.ask('GRAB_JOB')
      await early.say('WORK_COMPLETE', handle, '').sync()
      await early.leave()
      const sleepers = await Promise.all(Array.from({ length: 6 }, () => gateway.peer('w')))
      for (const sleeper of sleepers) await sleeper.say('PRE_SLEEP').sync()
      const heard = sleepers.map((sleeper) => sleeper.hear())
      await client.submit('SUBMIT_JOB_BG', 'w', '', 'x')
      const first = await Promise.race(heard.map((hears, at) => hears.then(() => at)))
      await sleepers[first]?.ask('GRAB_JOB')
      // Many more turns of the event loop than the wake-up of six takes.
      for (let turn = 0; turn < 100; turn += 1) await client.sync()
      for (const sleeper of sleepers) sleeper.say('ECHO_REQ', 'x')
      const names = (await Promise.all(heard)).map(([name]) => name)
      return names.filter((name) => name === 'NOOP').length
    }
    expect(await woken('0')).toBe(6)
    // A look at the lane before the first has asked may wake one more, now and then.
    const least = [await woken('1')]
    while (least.length < 4 && !least.includes(1)) least.push(await woken('1'))
    expect(Math.min(...least)).toBe(1)
  },
  roundRobin: async () => {
    const order = async (roundRobin: string): Promise<string[]> => {
      const gateway = await open({ roundRobin })
      const client = await gateway.peer()
      for (const fn of ['a', 'a', 'b', 'b']) await client.submit('SUBMIT_JOB_BG', fn, '', fn)
      return await grabAll(await gateway.peer('a', 'b'), 4)
    }
    expect(await order('no')).toEqual(['b', 'b', 'a', 'a'])
    expect(await order('yes')).toEqual(['b', 'a', 'b', 'a'])
  },
  gearmandVersion: async () => {
    const order = async (gearmandVersion: string): Promise<string[]> => {
      const gateway = await open({ gearmandVersion })
      const client = await gateway.peer()
      await client.submit('SUBMIT_JOB_LOW_BG', 'b', '', 'low')
      await client.submit('SUBMIT_JOB_HIGH_BG', 'a', '', 'high')
      return [await client.command('version'), ...(await grabAll(await gateway.peer('a', 'b'), 2))]
    }
    expect(await order('1.1')).toEqual(['OK 1.1.20', 'low', 'high'])
    expect(await order('2.0')).toEqual(['OK 2.0.0', 'high', 'low'])
  },
  exceptions: async () => {
    const heard = async (exceptions: string): Promise<string | undefined> => {
      const gateway = await open({ exceptions })
      const [client, worker] = [await gateway.peer(), await gateway.peer('e')]
      await client.submit('SUBMIT_JOB', 'e', '', 'x')
      const [, handle = ''] = await worker.ask('GRAB_JOB')
      worker.say('WORK_EXCEPTION', handle, 'oh')
      return (await client.hear())[0]
    }
    expect([await heard('no'), await heard('yes')]).toEqual(['WORK_FAIL', 'WORK_EXCEPTION'])
  },
  maxConnections: async () => {
    const second = async (maxConnections: string): Promise<string> => {
      const gateway = await open({ maxConnections })
      await (await gateway.peer()).sync()
      const peer = await gateway.peer()
      return answerOr(peer, peer.ask('ECHO_REQ', 'x'))
    }
    expect([await second('1'), await second('2')]).toEqual(['closed', 'ECHO_RES'])
  },
  backlog: async () => {
    const listen = vi.spyOn(Server.prototype, 'listen')
    onTestFinished(() => listen.mockRestore())
    await open({ backlog: '7' })
    expect(listen.mock.calls).toContainEqual([expect.objectContaining({ backlog: 7 })])
  },
  keepaliveSeconds: async () => {
    const gateway = await open({ keepaliveSeconds: '30000' })
    await (await gateway.peer()).sync()
    const end = `:${gateway.port('gearman').toString(16).toUpperCase().padStart(4, '0')}`
    const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n')
    const timers = rows
      .map((row) => row.trim().split(/\s+/))
      .filter(([, local = '', , state]) => local.endsWith(end) && state === '01')
      .map(([, , , , , timer = '']) =>
        Math.round(parseInt(timer.split(':')[1] ?? '', 16) / 3_000_000),
      )
    expect(timers).toEqual([1])
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
      const peer = await (await open({ maxFunctions })).peer('a', 'b')
      return (await peer.ask('ECHO_REQ', 'x'))[0]
    }
    expect([await named('1'), await named('2')]).toEqual(['ERROR', 'ECHO_RES'])
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
      const headers = { 'X-Gearman-Background': 'true' }
      return (await ask(gateway.port('http'), '/f', { headers }, Buffer.alloc(2 << 20))).status
    }
    expect([await posted('1048576'), await posted('8388608')]).toEqual([503, 200])
  },
  maxUnsentBytes: async () => {
    const gateway = await open({ maxUnsentBytes: '65536' })
    await stallPeer(gateway.port('gearman'))
    await expect.poll(() => gateway.metrics(), patience).toContain(slow)
  },
  stallSeconds: async () => {
    const gateway = await open({ stallSeconds: '1' })
    await stallPeer(gateway.port('gearman'))
    await expect.poll(() => gateway.metrics(), patience).toContain(slow)
  },
  handshakeSeconds: async () => {
    const [late, soon] = [
      await open({ handshakeSeconds: '2' }),
      await open({ handshakeSeconds: '1' }),
    ]
    const first = (await late.faktory()).closed().then(() => 'late')
    const second = (await soon.faktory()).closed().then(() => 'soon')
    expect(await Promise.race([first, second])).toBe('soon')
  },
  gearmanTlsCa: () => tlsCase('no', 'stranger'),
  gearmanTlsVerifyClients: () => tlsCase('yes', 'none'),
  drainSeconds: async () => {
    const folder = await temporaryFolder()
    const ports = [
      '--gearman-port',
      '0',
      '--faktory-port',
      'off',
      '--web-port',
      'off',
      '--store-port',
      '0',
    ]
    const gateway = ownProcess(...ports, '--data-dir', folder, '--drain-seconds', '0')
    const { doors } = await gateway.ready
    const worker = connect(doors[0]?.port ?? 0, '127.0.0.1')
    onTestFinished(() => void worker.destroy())
    const peer = new GearmanPeer(worker)
    await peer.submit('SUBMIT_JOB_BG', 'd', '', 'x')
    await peer.say('CAN_DO', 'd').ask('GRAB_JOB')
    gateway.child.kill('SIGTERM')
    const { code, stdout } = await gateway.exited
    expect([code, stdout.includes('Some jobs are still running')]).toEqual([0, true])
  },
  host: async () => {
    const gateway = ownProcess(...webAlone, '--host', '127.0.0.2', ...(await freshStore()))
    const [web] = (await gateway.ready).doors
    expect((await fetch(`http://127.0.0.2:${web?.port ?? 0}/healthz`)).status).toBe(200)
    await expect(fetch(`http://127.0.0.1:${web?.port ?? 0}/healthz`)).rejects.toThrow()
  },
  dataDir: async () => {
    const folder = await temporaryFolder()
    await ownProcess(...webAlone, '--store-port', '0', '--data-dir', folder).ready
    expect(existsSync(join(folder, 'store.log'))).toBe(true)
  },
  storePort: async () => {
    const port = await freePort()
    const store = ['--store-port', String(port), '--data-dir', await temporaryFolder()]
    const { nativeUrl } = (await ownProcess(...webAlone, ...store).ready).store
    expect(new URL(nativeUrl).port).toBe(String(port))
  },
  webPort: async () => {
    const port = await freePort()
    const words = ['--gearman-port', 'off', '--faktory-port', 'off', '--web-port', String(port)]
    await ownProcess(...words, ...(await freshStore())).ready
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  },
  config: async () => {
    const file = join(await temporaryFolder(), 'crossgear.toml')
    writeFileSync(file, 'gearman_port = "off"\nfaktory_port = "off"\nweb_port = 0\n')
    const { doors } = await ownProcess('--config', file, ...(await freshStore())).ready
    expect(doors.map(({ name }) => name)).toEqual(['web'])
  },
  logFormat: async () => {
    const gateway = ownProcess(...webAlone, '--log-format', 'text', ...(await freshStore()))
    expect(await gateway.said(/^Crossgear .* is ready/)).toHaveLength(1)
  },
  logLevel: async () => {
    const port = await freePort()
    const words = ['--gearman-port', 'off', '--faktory-port', 'off', '--web-port', String(port)]
    const gateway = ownProcess(...words, '--log-level', 'fatal', ...(await freshStore()))
    const status = async (): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.status ?? 0
    await expect.poll(status, patience).toBe(200)
    gateway.child.kill('SIGTERM')
    expect(await gateway.exited).toMatchObject({ code: 0, stdout: '' })
  },
}

async function freshStore(): Promise<readonly string[]> {
  return ['--store-port', '0', '--data-dir', await temporaryFolder()]
}

/** True where only clients with a certificate of the authority are served. */
async function tlsCase(
  gearmanTlsVerifyClients: string,
  turnedAway: 'stranger' | 'none',
): Promise<void> {
  const { server, ca, client, stranger } = await makeCertificates()
  const gateway = await open({
    ...{ gearmanTlsCert: server.cert, gearmanTlsKey: server.key, gearmanTlsCa: ca.cert },
    gearmanTlsVerifyClients,
  })
  const served = async (pair?: { cert: string; key: string }): Promise<string> => {
    const own = pair && { cert: readFileSync(pair.cert), key: readFileSync(pair.key) }
    const port = gateway.port('gearman')
    const socket = connectTls({ port, host: '127.0.0.1', ca: readFileSync(server.cert), ...own })
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    socket.write('version\n')
    const heard = once(socket, 'data').then(([data]) => String(data).slice(0, 2))
    return await Promise.race([heard, once(socket, 'close').then(() => 'closed')]).catch(
      () => 'closed',
    )
  }
  expect(await served(client)).toBe('OK')
  expect(await served(turnedAway === 'stranger' ? stranger : undefined)).toBe('closed')
}

describe('each option changes something', () => {
  const elsewhere = optionNames.filter((name) => optionCases[name] !== 'here')

  test('and has a case that sees it', () => {
    expect(optionNames.filter((name) => optionCases[name] === undefined)).toEqual([])
  })

  test.each(elsewhere)('%s, in a test that is there', (name) => {
    const { file, title, writes } = optionCases[name] as ElsewhereCase
    const text = readFileSync(new URL(file, testFolder), 'utf8')
    expect(text).toContain(title)
    expect(
      [flagOf(name), ...variablesOf(name), writes].some((word) => word && text.includes(word)),
    ).toBe(true)
  })

  test('has a case here where the table says so, and no other', () => {
    const here = optionNames.filter((name) => optionCases[name] === 'here')
    expect(Object.keys(cases).sort()).toEqual([...here].sort())
  })
})

describe.skipIf(lacksRedis)('each option, with redis-server', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    redis = await RedisServer.start()
  })
  afterAll(() => redis.stop())
  beforeEach(() => redis.ask('FLUSHALL'))

  for (const name of optionNames) {
    const look = cases[name]
    if (look) test.skipIf(missing[name])(`${flagOf(name)} changes what is seen`, look)
  }
})
