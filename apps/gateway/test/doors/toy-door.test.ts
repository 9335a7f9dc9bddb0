import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface, type Interface } from 'node:readline'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { runCommandLine } from '../../src/commands/program.ts'
import { type Config, loadConfig } from '../../src/config/load-config.ts'
import { readAssets } from '../../src/web/dashboard/assets.ts'
import { socketNames } from '../../src/doors/names.ts'
import { doors } from '../../src/doors/table.ts'
import { readInheritedSockets } from '../../src/doors/net/inherited-sockets.ts'
import { renderBanner } from '../../src/server/banner.ts'
import { checkOpenNetwork } from '../../src/server/open-network.ts'
import { openApi } from '../web/api/support/api-gateway.ts'
import { type Flags, openOnRedis } from '../config/options/composed-gateway.ts'
import { recordingLog } from '../support/recording-log.ts'

// Test files share their modules: those of others must not know the table by now, nor keep this one.
vi.hoisted(() => vi.resetModules())
afterAll(() => {
  vi.doUnmock('../../src/doors/table.ts')
  vi.resetModules()
})

// A door is a folder, and one row in the table.
vi.mock(import('../../src/doors/table.ts'), async (original) => {
  const { doors: others } = await original()
  const { echoRow } = await import('./echo/echo-row.ts')
  return { doors: [...others, echoRow] as unknown as typeof others }
})

const flags = { echoPort: '0' } as Flags

async function configOf(
  words: readonly string[],
): Promise<Config & { readonly echoPort: unknown }> {
  const served = vi.fn(() => Promise.resolve(0))
  await runCommandLine(words, { version: '0.1.0', env: {}, serve: served })
  return (served.mock.calls as unknown as [[Config & { readonly echoPort: unknown }]])[0][0]
}

describe('a door with one row', () => {
  test('has an option, a variable and a key for its port', async () => {
    expect(await configOf([])).toMatchObject({ echoPort: 'off' })
    expect(await configOf(['--echo-port', '7'])).toMatchObject({ echoPort: 7 })
    const env = { CROSSGEAR_ECHO_PORT: '8' }
    expect(loadConfig({ flags: {}, env })).toMatchObject({ echoPort: 8 })
  })

  test('is one of the doors of which one must be open', () => {
    const off = doors.map(({ name }) => [`${name}Port`, 'off'])
    const all = { ...Object.fromEntries(off), webPort: 'off' } as Flags
    expect(() => loadConfig({ flags: all, env: {} })).toThrow(
      'open at least one of --gearman-port, --faktory-port, --http-port, --echo-port, --web-port.',
    )
  })

  test('takes a socket that a service manager hands over', () => {
    const env = { LISTEN_PID: '1', LISTEN_FDS: '1', LISTEN_FDNAMES: 'echo' }
    expect(readInheritedSockets(env, 1, socketNames)).toEqual(new Map([['--echo-port', [3]]]))
  })

  test('is warned of where it is open to the network', async () => {
    const config = loadConfig({ flags: { ...flags, host: '*', faktoryPassword: 'x' }, env: {} })
    const open = { ...config, webPassword: 'x' }
    expect(await checkOpenNetwork(open)).toContain('The echo port is open to the network.')
  })

  test('is in the banner', () => {
    const banner = renderBanner({
      version: '1.2.3',
      voice: 'text',
      log: recordingLog().log,
      hasPassword: false,
      doors: [{ name: 'echo', host: '*', port: 7, tls: false }],
      store: { kind: 'redis-url', describe: '', nativeUrl: 'redis://h' },
    })
    expect(banner).toMatch(/ {2}Echo +\*:7 +try: echo hello \| nc 127\.0\.0\.1 7\n/)
  })

  test("is in the dashboard's filter of jobs", () => {
    const app = String(readAssets().get('/ui/app.js')?.body)
    expect(app).toContain('{"name":"echo","title":"Echo","failure":"an empty line"}')
  })
})

describe.skipIf(lacksRedis)('jobs of such a door', () => {
  const { open, redis } = openOnRedis({ isEmptied: true })

  async function lineTo(port: number, line: string): Promise<Interface> {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    socket.write(`${line}\n`)
    return createInterface(socket)
  }

  test('keep its name in the store, the API and the metrics, and are answered', async () => {
    const api = await openApi(() => open(flags))
    const { gateway } = api
    const answers = await lineTo(gateway.port('echo'), 'hello')
    const answer = once(answers, 'line')
    await expect.poll(() => redis().ask('HGET', 'job:echo:1', 'door')).toBe('echo')
    expect(await api.jobs('door=echo')).toMatchObject({
      jobs: [{ function: 'echo', door: 'echo' }],
    })
    expect(await api.jobs('door=gearman')).toMatchObject({ jobs: [] })
    const worker = await gateway.peer('echo')
    const [, handle = ''] = await worker.ask('GRAB_JOB')
    worker.send('WORK_COMPLETE', handle, 'HELLO')
    expect(await answer).toEqual(['HELLO'])
    const metrics = await gateway.metrics()
    expect(metrics).toContain('crossgear_clients{door="echo"} 1')
    expect(metrics).toMatch(/crossgear_jobs_submitted_total\{function="echo",door="echo"\} 1/)
    expect(metrics).toMatch(/door_in="echo",door_out="gearman"/)
    const nodes = await api.get('/nodes')
    expect(JSON.stringify(nodes)).toContain('{"door":"echo","address":"127.0.0.1:')
  })

  test('are answered while it drains, and its connections end with it', async () => {
    const gateway = await open(flags)
    const answers = await lineTo(gateway.port('echo'), 'last')
    const answer = once(answers, 'line')
    const worker = await gateway.peer('echo')
    await expect.poll(() => redis().ask('LLEN', 'queue:echo:normal')).toBe('1')
    const door = gateway.door('echo')
    door.drain()
    const late = connect(gateway.port('echo'), '127.0.0.1')
    expect(await once(late, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }])
    const [, handle = ''] = await worker.ask('GRAB_JOB')
    worker.send('WORK_COMPLETE', handle, 'LAST')
    expect(await answer).toEqual(['LAST'])
    const end = once(answers, 'close')
    await door.close()
    await end
  })
})
