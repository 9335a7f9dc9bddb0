import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { lacks } from '@crossgear/tools/lacks'
import { freePort } from '@crossgear/tools/free-port'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../../support/gateway-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const units = fileURLToPath(new URL('../../../../../deploy/systemd/', import.meta.url))
const programs = fileURLToPath(new URL('programs/', import.meta.url))
const service = join(units, 'crossgear.service')
const template = join(units, 'crossgear@.service')
const lacksSystemd = lacks('systemd-analyze', '--version')

/** Words for a gateway with its Gearman port alone. */
const gearmanOnly = ['--gearman-port', '4730', '--web-port', 'off']

/** Words for a gateway with its web port alone, on a store of its own. */
async function alone(): Promise<readonly string[]> {
  const store = ['--data-dir', await temporaryFolder(), '--store-port', '0']
  return ['--gearman-port', 'off', '--faktory-port', 'off', '--log-format', 'json', ...store]
}

/** Runs a Perl program and gives the lines that it prints, one by one. */
function startPerl(name: string, words: readonly string[]) {
  const child = spawn('perl', [join(programs, name), ...words], {
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`no line is like ${pattern.source}`)
      const [, found] = pattern.exec(value) ?? []
      if (found !== undefined) return found
    }
  }
  return { child, next }
}

/** A socket that a program holds for the web port, as systemd does for a unit. */
async function holdSocket(host: string, name = 'web', words: readonly string[] = []) {
  const command = [process.execPath, ...bundleWords(), ...(await alone()), ...words]
  const { child, next } = startPerl('hold-socket.pl', [host, name, ...command])
  const port = Number(await next(/^(\d+)$/))
  return { port, next, start: () => child.stdin.write('\n') }
}

describe.skipIf(lacksSystemd)('the units, with systemd-analyze', () => {
  test('are valid', () => {
    const names = ['gearman', 'faktory', 'web'].map((name) =>
      join(units, `crossgear-${name}.socket`),
    )
    const verify = spawnSync('systemd-analyze', ['verify', service, template, ...names], {
      encoding: 'utf8',
    })
    expect([verify.status, verify.stderr]).toEqual([0, ''])
  })

  test('are started again after any outage', () => {
    expect(readFileSync(service, 'utf8')).toMatch(/^StartLimitIntervalSec=0$/m)
  })

  test('of further gateways are like the first, but for their store, web port and settings', () => {
    const [first, further] = [service, template].map((unit) =>
      readFileSync(unit, 'utf8').split('\n'),
    )
    const isSetting = (line: string) => line !== '' && !line.startsWith('#')
    expect(first?.filter((line) => isSetting(line) && !further?.includes(line))).toEqual([
      'Description=Crossgear, a job broker for Gearman, Faktory and GearMonkey',
      'Environment=CROSSGEAR_DATA_DIR=%S/crossgear CROSSGEAR_LOG_FORMAT=json',
      'Sockets=crossgear-gearman.socket crossgear-faktory.socket crossgear-web.socket',
      'StateDirectory=crossgear',
      'StateDirectoryMode=0700',
    ])
    expect(further?.filter((line) => isSetting(line) && !first?.includes(line))).toEqual([
      'Description=Crossgear, gateway %i on the store of crossgear.service',
      expect.stringMatching(/^ExecStartPre=.*set redis_url/),
      'EnvironmentFile=-/etc/crossgear/crossgear-%i.env',
      'Environment=CROSSGEAR_LOG_FORMAT=json',
      'Environment=CROSSGEAR_WEB_PORT=742%i',
      'Sockets=crossgear-gearman.socket crossgear-faktory.socket',
    ])
  })

  test('leave the service exposed to 2.5 at most', () => {
    const words = ['security', '--offline=true', '--no-pager', '--threshold=25', service]
    const { status, stdout } = spawnSync('systemd-analyze', words, { encoding: 'utf8' })
    expect(stdout).toMatch(/Overall exposure level for crossgear\.service: [012]\.\d/)
    expect(status).toBe(0)
  })

  test('let the gateway be started by the first client', async () => {
    const port = await freePort()
    const words = [
      `--listen=127.0.0.1:${port}`,
      '--fdname=web',
      `--setenv=PATH=${process.env['PATH']}`,
    ]
    const command = [process.execPath, ...bundleWords(), ...(await alone())]
    const activated = spawn('systemd-socket-activate', [...words, ...command], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(async () => {
      activated.kill()
      await once(activated, 'exit')
    })
    for await (const line of createInterface(activated.stderr)) {
      if (line.startsWith('Listening on')) break
    }
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
    expect(await ready.json()).toEqual({ status: 'ready' })
  })
})

describe('sockets that were handed over', () => {
  test.each([
    ['a gateway', 'web', [], 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n', '200 OK'],
    ['one at its Gearman port', 'gearman', gearmanOnly, 'version\n', 'OK 1.'],
  ])('refuse no client while %s restarts', async (_what, name, words, request, expected) => {
    const { port, next, start } = await holdSocket('127.0.0.1', name, words)
    const ask = async () => {
      const socket = connect(port, '127.0.0.1')
      onTestFinished(() => void socket.destroy())
      await once(socket, 'connect')
      socket.write(request)
      return { answer: async () => String((await once(socket, 'data'))[0]) }
    }
    start()
    const first = Number(await next(/^started (\d+)$/))
    await next(/("Ready\.")/)
    expect(await (await ask()).answer()).toContain(expected)
    process.kill(first, 'SIGTERM')
    expect(await next(/^ended (\d+)$/)).toBe('0')
    const waiting = await ask()
    start()
    const second = Number(await next(/^started (\d+)$/))
    expect(await waiting.answer()).toContain(expected)
    await next(/("Ready\.")/)
    process.kill(second, 'SIGTERM')
    expect(await next(/^ended (\d+)$/)).toBe('0')
  })

  test.each([
    ['http', '127.0.0.1', '--http-port, which is off'],
    ['other', '127.0.0.1', 'calls socket 1 "other"'],
    ['faktory', '0.0.0.0', 'open to the network without a password'],
  ])('a socket for %s on %s that cannot be served is refused: %s', async (name, host, why) => {
    const words = name === 'faktory' ? ['--faktory-port', '7419', '--web-port', 'off'] : []
    const { next, start } = await holdSocket(host, name, words)
    start()
    expect(await next(/^(.*socket.*)$/)).toContain(why)
    expect(await next(/^ended (\d+)$/)).toBe('2')
  })

  test('decide where their port listens: no warning, and no demand for a password, by --host; a port of its own is told as unused', async () => {
    const words = ['--host', '*', '--web-port', '7999', '--store-port', 'off']
    const { next, start } = await holdSocket('127.0.0.1', 'web', words)
    start()
    const started = Number(await next(/^started (\d+)$/))
    await next(
      /(--web-port 7999 has no effect: its socket was handed over, and listens on port \d+)/,
    )
    await next(/("Ready\.")/)
    process.kill(started, 'SIGTERM')
    expect(await next(/^ended (\d+)$/)).toBe('0')
  })

  test('are ignored if they are meant for another process', async () => {
    const env = { LISTEN_PID: '1', LISTEN_FDS: '1', LISTEN_FDNAMES: 'web' }
    const gateway = startGateway([...(await alone()), '--web-port', '0'], env)
    const { doors } = await gateway.ready
    expect((await fetch(`http://127.0.0.1:${doors[0]?.port}/healthz`)).status).toBe(200)
    await gateway.end()
  })
})

describe.skipIf(lacksSystemd)('with systemd-notify, the service manager', () => {
  test('is notified when the doors are open and when the gateway stops', async () => {
    const path = join(await temporaryFolder(), 'notify')
    const { next } = startPerl('receive-datagrams.pl', [path])
    await next(/^(listening)$/)
    const words = [...(await alone()), '--web-port', '0']
    const gateway = startGateway(words, { NOTIFY_SOCKET: path })
    await next(/^(READY=1)$/)
    expect(await next(/^STATUS=(.*)$/)).toBe('Ready: web')
    gateway.child.kill()
    await next(/^(STOPPING=1)$/)
    expect((await gateway.exited).code).toBe(0)
  })

  test('says so when it waits for its store, so that a start does not time out', async () => {
    const path = join(await temporaryFolder(), 'notify.sock')
    const { next } = startPerl('receive-datagrams.pl', [path])
    await next(/^(listening)$/)
    const ports = ['--gearman-port', 'off', '--faktory-port', 'off', '--web-port', '0']
    const words = [...ports, '--redis-url', 'unix:///no/such.sock']
    const gateway = startGateway(words, { NOTIFY_SOCKET: path })
    await next(/^(READY=1)$/)
    expect(await next(/^STATUS=(.*)$/)).toBe('Waiting for the store')
    expect((await gateway.end()).code).toBe(0)
  })
})
