import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { sent } from '../../web/api/support/api-gateway.ts'
import { FwpClient } from '../../doors/faktory/support/fwp-client.ts'
import { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { type ReadyGateway, startGateway } from '../../support/gateway-process.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'
import {
  lacksOpenssl,
  makeCertificates,
  type Certificates,
} from '../../doors/tls/support/certificates.ts'

const webPort = 0

describe.skipIf(lacksRedis || lacksOpenssl)('a running gateway reloads', () => {
  let folder: string
  const redis = redisOfSuite()
  let certificates: Certificates
  let gateway: ReturnType<typeof startGateway>
  let port: ReadyGateway['port']
  let hangUps = 0
  const at = (name: string): string => join(folder, name)

  /** Writes the file: what differs from the start, and tables. */
  function write(lines: readonly string[] = [], tables = ''): void {
    const usual = [
      `redis_url = "unix://${redis().path}"`,
      `web_port = ${webPort}`,
      'faktory_port = 0',
      `web_password = "${at('operator')}"`,
      `faktory_password = "${at('faktory')}"`,
      `gearman_tls_cert = "${at('door.crt')}"`,
      `gearman_tls_key = "${at('door.key')}"`,
      'gearman_port = 0',
      'log_level = "info"',
      'log_format = "json"',
    ]
    const names = new Set(lines.map((line) => line.split(' ', 1)[0]))
    const kept = usual.filter((line) => !names.has(line.split(' ', 1)[0] ?? ''))
    writeFileSync(at('crossgear.toml'), [...kept, ...lines, tables].join('\n'))
  }

  function useCertificate(pair: { readonly cert: string; readonly key: string }): void {
    copyFileSync(pair.cert, at('door.crt'))
    copyFileSync(pair.key, at('door.key'))
  }

  function usePasswords({ operator = 'sesame', faktory = 'factory' } = {}): void {
    writeFileSync(at('operator'), operator)
    writeFileSync(at('faktory'), faktory)
  }

  /** Reloads by signal; returns what the log says of it. */
  async function hangUp(): Promise<string> {
    hangUps += 1
    gateway.child.kill('SIGHUP')
    const lines = await gateway.said(/Reload \(SIGHUP\): .*changed/, hangUps)
    return (JSON.parse(lines.at(-1) ?? '') as { msg: string }).msg
  }

  function reload(password = 'sesame') {
    const headers = { Authorization: `Bearer ${password}` }
    return sent(port('web'), '/api/v1/reload', { method: 'POST', headers })
  }

  async function page(path: string): Promise<unknown> {
    return (await sent(port('web'), path, {})).body
  }

  async function secured(): Promise<TLSSocket> {
    const socket = connect({ port: port('gearman'), host: '127.0.0.1', rejectUnauthorized: false })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'secureConnect')
    return socket
  }

  async function consumer(password = 'factory', wid = 'one'): Promise<FwpClient> {
    const client = await FwpClient.loggedIn(port('faktory'), password, wid)
    onTestFinished(() => client.close())
    return client
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'xg-reload-'))
    certificates = await makeCertificates(folder)
    useCertificate(certificates.server)
    usePasswords()
    write()
    gateway = startGateway(['--config', at('crossgear.toml')])
    ;({ port } = await gateway.ready)
  })
  afterEach(async () => {
    useCertificate(certificates.server)
    usePasswords()
    write()
    await hangUp()
  })
  afterAll(async () => {
    const { code } = await gateway.end()
    rmSync(folder, { recursive: true })
    expect(code).toBe(0)
  })

  test('its certificate: the next client sees the new one, and connected clients stay', async () => {
    const before = await secured()
    const peer = new GearmanPeer(before)
    await peer.sync()
    useCertificate(certificates.stranger)
    expect(await hangUp()).toContain('--gearman-tls-cert, --gearman-tls-key changed')
    expect(before.getPeerCertificate().subject.CN).toBe('server')
    expect((await secured()).getPeerCertificate().subject.CN).toBe('stranger')
    await peer.sync()
  })

  test('its routes: jobs that wait go to the consumers of the new queue', async () => {
    const producer = new GearmanPeer(await secured())
    await producer.submit('SUBMIT_JOB_BG', 'letter', '', 'first')
    write([], '[routes.letter]\nqueue = "bulk"')
    expect(await hangUp()).toContain('routes changed')
    await producer.submit('SUBMIT_JOB_BG', 'letter', '', 'second')
    const [usual, bulk] = [await consumer(), await consumer('factory', 'other')]
    const found: unknown[] = []
    await expect
      .poll(async () => {
        const reply = await bulk.ask('FETCH bulk')
        if (reply !== '$-1')
          found.push((JSON.parse(reply.slice(reply.indexOf('{'))) as { args: unknown[] }).args[0])
        return found
      }, soon)
      .toEqual(['first', 'second'])
    expect(await usual.ask('FETCH default')).toBe('$-1')
  })

  test('its routes: a bound of waiting jobs holds at once, and a wrong one changes nothing', async () => {
    const producer = new GearmanPeer(await secured())
    await producer.submit('SUBMIT_JOB_BG', 'parcel', '', 'first')
    write([], '[routes.parcel]\nmax_waiting = 1')
    expect(await hangUp()).toContain('routes changed')
    const full = ['ERROR', 'QUEUE_ERROR', 'Job queue is full']
    expect(await producer.ask('SUBMIT_JOB_BG', 'parcel', '', 'second')).toEqual(full)
    write([], '[[routes.parcel.when]]\nlevel = 12\nretries = 1')
    expect(await hangUp()).toMatch(/nothing is changed: routes.parcel.when\[1\].level in .* is 12/)
    expect(await producer.ask('SUBMIT_JOB_BG', 'parcel', '', 'second')).toEqual(full)
    write([], '[routes.parcel]\nmax_waiting = 2')
    await hangUp()
    await producer.submit('SUBMIT_JOB_BG', 'parcel', '', 'second')
  })

  test('its throttles: the limit holds at once', async () => {
    const client = await consumer()
    for (const jid of ['slow-job-1', 'slow-job-2', 'slow-job-3']) {
      await client.push(jid, { jobtype: 'slow', queue: 'slow' })
    }
    await client.askJson('FETCH slow')
    write([], '[throttles.slow]\nconcurrency = 1')
    expect(await hangUp()).toContain('throttles changed')
    expect(await page('/api/v1/throttles')).toMatchObject({
      throttles: [{ queue: 'slow', concurrency: 1 }],
    })
    const { jid } = await client.askJson('FETCH slow')
    expect(await client.ask('FETCH slow')).toBe('$-1')
    write()
    await hangUp()
    expect(await client.askJson('FETCH slow')).not.toMatchObject({ jid })
  })

  test('the limit of a function: it holds at once for all queues, and a wrong one changes nothing', async () => {
    const client = await consumer()
    for (const queue of ['one', 'other']) {
      await client.push(`tight-${queue}`, { jobtype: 'tight', queue })
    }
    write([], '[routes.tight]\nconcurrency = 1')
    expect(await hangUp()).toContain('routes changed')
    expect(await page('/api/v1/functions/tight')).toMatchObject({
      limit: { concurrency: 1, rate_jobs: null, rate_seconds: null, per: null },
    })
    const { jid } = await client.askJson('FETCH one other')
    expect(await client.ask('FETCH one other')).toBe('$-1')
    write([], '[routes.tight]\nconcurrency = "4"')
    expect(await hangUp()).toContain('routes.tight.concurrency')
    expect(await client.ask('FETCH one other')).toBe('$-1')
    write()
    await hangUp()
    expect(await client.askJson('FETCH one other')).not.toMatchObject({ jid })
    expect(await page('/api/v1/functions/tight')).toMatchObject({ limit: null })
  })

  test('its cron entries: a new one pushes jobs, and a removed one does not', async () => {
    const job = '[cron.job]\ntype = "tick"\nqueue = "ticks"'
    write([], `[[cron]]\nname = "often"\nschedule = "* * * * * *"\n${job}`)
    expect(await hangUp()).toContain('cron changed')
    const client = await consumer()
    await expect.poll(() => client.ask('FETCH ticks'), soon).toContain('"tick"')
    write()
    await hangUp()
    expect(await page('/cron')).toEqual({ cron: [] })
  })

  test('its passwords: new clients need the new one, and logged-in clients stay', async () => {
    const client = await consumer()
    usePasswords({ operator: 'open up', faktory: 'other' })
    expect(await hangUp()).toContain('--faktory-password, --web-password changed')
    await expect(consumer()).rejects.toThrow('-ERR')
    expect(await (await consumer('other', 'two')).ask('END')).toBeTypeOf('string')
    expect(await client.ask('FLUSH')).toBe('+OK')
    expect((await reload()).code).toBe('wrong_password')
    expect((await reload('open up')).status).toBe(200)
  })

  test('its log level', async () => {
    const logIn = () =>
      sent(port('web'), '/api/v1/session', { method: 'POST', body: { password: 'sesame' } })
    const loggedIn = async () => (await gateway.said(/Logged in/, 0)).length
    await logIn()
    const before = await loggedIn()
    write(['log_level = "error"'])
    expect((await reload()).body).toEqual({ changed: ['--log-level'], restart_needed: [] })
    await logIn()
    write()
    await reload()
    await logIn()
    await gateway.said(/Logged in/, before + 1)
    expect(await loggedIn()).toBe(before + 1)
  })

  test('settings that need a restart are named, and the rest is applied', async () => {
    write(['max_functions = 7', 'faktory_port = "off"'], '[throttles.other]\nconcurrency = 3')
    expect((await reload()).body).toEqual({
      changed: ['throttles'],
      restart_needed: ['--faktory-port', '--max-functions'],
    })
    await gateway.said(/a restart is needed for --faktory-port, --max-functions/)
    await consumer()
  })

  test('an invalid file changes nothing, and the error is named', async () => {
    write(['log_level = "loud"'], '[throttles.other]\nconcurrency = 3')
    expect(await reload()).toMatchObject({
      status: 422,
      body: {
        error: {
          code: 'invalid_settings',
          message: expect.stringMatching(/log_level in .* is "loud"/) as string,
        },
      },
    })
    expect(await hangUp()).toMatch(/nothing is changed: log_level in .* is "loud"/)
    useCertificate({ cert: certificates.server.cert, key: certificates.stranger.key })
    write([], '[throttles.other]\nconcurrency = 3')
    expect(await hangUp()).toMatch(/nothing is changed: The key .* does not belong/)
    expect(await page('/api/v1/throttles')).toEqual({ throttles: [] })
  })

  test('crossgear reload lists the changes, and ends with 1 for an invalid file', async () => {
    const command = [...bundleWords(), 'reload', '--config', at('crossgear.toml')]
    const run = () => {
      const words = [...command, '--url', `http://127.0.0.1:${port('web')}`]
      const env = { PATH: process.env['PATH'] }
      const options = { encoding: 'utf8', env } as const
      const { status, stdout, stderr } = spawnSync(process.execPath, words, options)
      return [status, stdout + stderr]
    }
    write(['max_functions = 7'], '[throttles.other]\nconcurrency = 3')
    expect(run()).toEqual([0, 'Changed: throttles.\nA restart is needed for --max-functions.\n'])
    write([`gearman_tls_key = "${at('none')}"`])
    const [status, words] = run()
    expect([status, words]).toEqual([
      1,
      expect.stringMatching(/^The gateway refuses: .*none.*invalid_settings/),
    ])
    expect((await reload('wrong')).code).toBe('wrong_password')
  })
})
