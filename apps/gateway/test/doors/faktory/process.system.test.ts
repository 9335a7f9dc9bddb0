import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { checkOpenNetwork } from '../../../src/server/open-network.ts'
import { ask } from '../http/support/http-client.ts'
import { gatewayOfTest } from '../../support/gateway-process.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'
import { load, refusal } from '../../support/settings.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { FwpClient } from './support/fwp-client.ts'

const redis = redisOfSuite()

/** At ports that any machine has free, on the embedded store where there is no Redis. */
async function gateway(words: readonly string[], env: Record<string, string> = {}) {
  const ports = ['--gearman-port', 'off', '--faktory-port', '0', '--web-port', '0']
  const store = lacksRedis
    ? ['--store-port', '0', '--data-dir', await temporaryFolder()]
    : ['--redis-url', `unix://${redis().path}`]
  const own = [...ports, ...store, '--log-format', 'json']
  return gatewayOfTest([...own, ...words], { PATH: '', ...env })
}

describe('a port without a password', () => {
  const check = (flags: Readonly<Record<string, string>>) => checkOpenNetwork(load({ flags }))

  test.each(['0.0.0.0', '*', '::'])(
    'does not open on %s, and the error says what to do',
    async (host) => {
      expect(await refusal(() => check({ host }))).toBe(
        `The Faktory port would be open to the network without a password (--host ${host}): ` +
          'give --faktory-password, close it with --faktory-port off, or allow it with --faktory-open yes ' +
          'where every machine of the network may submit and take jobs.',
      )
      expect(await refusal(() => check({ host, faktoryOpen: 'yes' }))).toBe(
        `The web port would be open to the network without a password (--host ${host}): ` +
          'give --web-password, close it with --web-port off, or allow it with --web-open yes ' +
          'where every machine of the network may read figures and jobs.',
      )
    },
  )

  const everywhere = { host: '0.0.0.0', gearmanPort: 'off' }
  test.each([
    ['on loopback', { host: '127.0.0.1' }, []],
    ['on a name of this machine', { host: 'localhost' }, []],
    [
      'where it is allowed',
      { ...everywhere, faktoryOpen: 'yes', webOpen: 'yes' },
      ['Faktory', 'web'],
    ],
    ['where it is closed', { ...everywhere, faktoryPort: 'off', webOpen: 'yes' }, ['web']],
    ['with a web password', { ...everywhere, faktoryOpen: 'yes', webPassword: 'x' }, ['Faktory']],
  ])('opens %s, with a warning where it is open to the network', async (_name, flags, ports) => {
    const warnings = await check(flags)
    expect(warnings.map((text) => /^The (\w+) port is open/.exec(text)?.[1])).toEqual(ports)
  })

  test('is logged as a warning where it is allowed, like every other port that is open to the network', async () => {
    const ports = ['--gearman-port', '0', '--http-port', '0', '--faktory-open', 'yes']
    const web = ['--web-open', 'yes']
    const { ready, said } = await gateway(['--host', '0.0.0.0', ...ports, ...web])
    await ready
    const lines = await said(/"level":40.*is open to the network/)
    const named = lines.map((line) => /The (\w+) port is open/.exec(line)?.[1])
    expect(named).toEqual(['Gearman', 'Faktory', 'HTTP', 'web'])
  })
})

test('--allowed-hosts lists the host names that the web and the HTTP port accept', async () => {
  const words = ['--http-port', '0', '--allowed-hosts', 'jobs.example.org, other']
  const { ready } = await gateway(words)
  const { port } = await ready
  const status = async (door: string, path: string, host: string): Promise<number | undefined> => {
    const headers = { Host: host, 'X-Gearman-Background': 'true' }
    return (await ask(port(door), path, { method: 'GET', headers })).status
  }
  for (const host of ['jobs.example.org', 'other:80']) {
    expect(await status('http', '/f', host)).toBe(200)
    expect(await status('web', '/healthz', host)).toBe(200)
  }
  expect(await status('http', '/f', 'evil.example')).toBe(421)
  expect(await status('web', '/healthz', 'evil.example')).toBe(421)
})

test('SIGUSR1 ends the gateway once no job is left, and opens no debugger', async () => {
  const { child, ready, exited } = await gateway([])
  await ready
  child.kill('SIGUSR1')
  const { code, stderr } = await exited
  expect([code, stderr]).toEqual([0, ''])
})

test('the web port has the pages of the Faktory server for monitoring', async () => {
  const { ready } = await gateway(['--web-password', 'sesame'])
  const { port: portOf } = await ready
  const client = await FwpClient.ofTest(portOf('faktory'))
  const page = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${portOf('web')}${path}`)
    expect(answer.status).toBe(200)
    return (await answer.json()) as Record<string, object>
  }
  // Both count the cycles of loops: a pair is compared that none came between.
  const look = async () => ({
    info: await client.askJson('INFO'),
    stats: await page('/stats'),
    after: await client.askJson('INFO'),
  })
  let { info, stats, after } = await look()
  while (!isDeepStrictEqual(info['faktory'], after['faktory'])) {
    ;({ info, stats, after } = await look())
  }
  expect(stats['faktory']).toEqual(info['faktory'])
  const description = 'Faktory Enterprise (Crossgear)'
  const server = { description, faktory_version: '1.10.0', connections: 1 }
  expect(stats['server']).toMatchObject(server)
  const health = await page('/health')
  expect(health).toMatchObject({ now: expect.stringMatching(/^20.*Z$/) as string, server })
  expect(Object.keys(health)).toEqual(['now', 'server'])
})

describe('a password from a file', () => {
  test('opens the port to the network, and wrong ones are counted and turned away', async () => {
    const secret = join(await temporaryFolder(), 'password')
    await writeFile(secret, 'sesame\n')
    const words = ['--host', '0.0.0.0', '--faktory-password-tries', '2', '--web-open', 'yes']
    const { ready } = await gateway(words, { FAKTORY_PASSWORD: secret })
    const { port: portOf } = await ready

    const answers: string[] = []
    for (const word of ['sesame', 'open', 'close']) {
      answers.push(await (await FwpClient.strangerOfTest(portOf('faktory'))).logIn(word))
    }
    expect(answers).toEqual(['+OK', '-ERR Invalid password', '-ERR Invalid password'])
    const late = await FwpClient.strangerOfTest(portOf('faktory'))
    expect(await late.reply()).toMatch(/^-ERR too many wrong passwords/)

    const page = await fetch(`http://127.0.0.1:${portOf('web')}/metrics`)
    const metrics = await page.text()
    const counted = (reason: string) =>
      `crossgear_rejected_total{door="faktory",reason="${reason}"}`
    expect(metrics).toContain(`${counted('password')} 2`)
    expect(metrics).toContain(`${counted('password_tries')} 1`)
  })
})
