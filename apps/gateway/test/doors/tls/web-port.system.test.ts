import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { lacks } from '@crossgear/tools/lacks'
import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { gatewayOfTest, startGateway } from '../../support/gateway-process.ts'
import { redisOfSuite, redisOfTest } from '../../support/redis-of-suite.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { crossgear } from '../../commands/terminal/support/terminal.ts'
import { askSecurely } from './support/ask-securely.ts'
import { type Certificates, lacksOpenssl, makeCertificates } from './support/certificates.ts'

const run = promisify(execFile)
const lacksCurl = lacks('curl', '--version')

describe.skipIf(lacksRedis || lacksOpenssl)('a gateway whose web port has a certificate', () => {
  const redis = redisOfSuite({ isEmptied: true })
  let all: Certificates
  let files: Certificates['server']

  beforeAll(async () => {
    all = await makeCertificates(mkdtempSync(join(tmpdir(), 'crossgear-test-')))
    files = all.server
  })
  afterAll(() => rmSync(all.folder, { recursive: true }))

  /** The variables of the gateway, by which the commands of this machine find it, too. */
  async function start(cert = files) {
    const env = {
      CROSSGEAR_WEB_PORT: String(await freePort()),
      CROSSGEAR_WEB_TLS_CERT: cert.cert,
      CROSSGEAR_WEB_TLS_KEY: cert.key,
      CROSSGEAR_WEB_PASSWORD: 'sesame',
      CROSSGEAR_REDIS_URL: `unix://${redis().path}`,
      CROSSGEAR_GEARMAN_PORT: '0',
      CROSSGEAR_FAKTORY_PORT: 'off',
    }
    const gateway = gatewayOfTest(['serve', '--log-format', 'json'], env)
    const { doors } = await gateway.ready
    return { ...gateway, env, doors, url: `https://127.0.0.1:${env.CROSSGEAR_WEB_PORT}` }
  }

  test('says https when it is ready, and its session is for https alone', async () => {
    const { doors, url, env } = await start()
    const web = doors.find(({ name }) => name === 'web')
    expect(web).toMatchObject({ tls: true, try: `${url}/` })
    expect(doors.find(({ name }) => name === 'gearman')).toMatchObject({ tls: false })
    const session = await askSecurely(Number(env.CROSSGEAR_WEB_PORT), '/api/v1/session', files, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"password":"sesame"}',
    })
    expect(session.status).toBe(201)
    expect(String(session.headers['set-cookie'])).toMatch(/; Secure$/)
  })

  test('is found by the commands of its machine, which need no further option', async () => {
    const { env, url } = await start()
    const health = await startGateway(['health'], env).exited
    expect(health).toEqual({ code: 0, stderr: '', stdout: `The gateway at ${url} is ready.\n` })
    expect(await crossgear(['jobs', 'submit', 'mail', 'dear'], { env })).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect((await crossgear(['jobs', 'list'], { env })).stdout).toMatch(/mail/)
    expect((await crossgear(['top', '--once'], { env })).stdout).toMatch(/mail/)
  })

  test('is trusted with its authority, with its certificate by any name, and not without', async () => {
    const { url } = await start(all.stranger)
    const nodes = (...words: readonly string[]) => crossgear(['nodes', '--url', url, ...words])
    expect(await nodes('--ca', all.stranger.cert)).toMatchObject({ code: 0, stderr: '' })
    const env = { CROSSGEAR_CA: all.stranger.cert, CROSSGEAR_URL: url }
    expect(await crossgear(['nodes'], { env })).toMatchObject({ code: 0, stderr: '' })
    for (const words of [[], ['--ca', all.ca.cert]]) {
      expect(await nodes(...words)).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(
          /^The certificate of https:\S+ is not trusted \([A-Z_]+\): .*--ca or CROSSGEAR_CA\.\n$/,
        ),
      })
    }
    expect(await nodes('--ca', '/no/such.crt')).toEqual({
      code: 1,
      stdout: '',
      stderr: '--ca names /no/such.crt, which cannot be read (ENOENT).\n',
    })
    const signed = await start()
    const byAuthority = ['nodes', '--url', signed.url, '--ca', files.cert]
    expect(await crossgear(byAuthority)).toMatchObject({ code: 0, stderr: '' })
  })

  test('http to it, and https to a port without one, are explained', async () => {
    const { url } = await start()
    const plain = await crossgear(['nodes', '--url', url.replace('https', 'http')])
    expect(plain).toMatchObject({ code: 2, stdout: '' })
    expect(plain.stderr).toContain('(connection closed; with a certificate it takes https://)')
    const other = gatewayOfTest(['serve', '--log-format', 'json'], {
      CROSSGEAR_WEB_PORT: '0',
      CROSSGEAR_GEARMAN_PORT: 'off',
      CROSSGEAR_FAKTORY_PORT: 'off',
      CROSSGEAR_REDIS_URL: `unix://${redis().path}`,
    })
    const port = (await other.ready).port('web')
    const secure = await crossgear(['nodes', '--url', `https://127.0.0.1:${port}`])
    expect(secure).toMatchObject({ code: 2, stdout: '' })
    expect(secure.stderr).toContain('(no TLS there: it may take http://)')
  })

  test.skipIf(lacksCurl)('serves curl, by its authority, and refuses it without', async () => {
    const { url } = await start()
    const { stdout } = await run('curl', ['-sS', '--cacert', files.cert, `${url}/readyz`])
    expect(stdout).toBe('{"status":"ready"}\n')
    await expect(run('curl', ['-sS', `${url}/readyz`])).rejects.toMatchObject({ code: 60 })
  })

  test('takes a renewed certificate over by a reload', async () => {
    const folder = await temporaryFolder()
    const own = { cert: join(folder, 'web.crt'), key: join(folder, 'web.key') }
    const use = (pair: Certificates['server']): void => {
      copyFileSync(pair.cert, own.cert)
      copyFileSync(pair.key, own.key)
    }
    use(files)
    const { env, child, said } = await start(own)
    const port = Number(env.CROSSGEAR_WEB_PORT)
    expect((await askSecurely(port, '/healthz', files)).certificate).toBe('server')
    const renewed = (await makeCertificates()).server
    use(renewed)
    child.kill('SIGHUP')
    await said(/Reload \(SIGHUP\): --web-tls-cert, --web-tls-key changed/)
    await expect(askSecurely(port, '/healthz', files)).rejects.toThrow()
    expect((await askSecurely(port, '/healthz', renewed)).status).toBe(200)
  })

  test('speaks TLS while it waits for its store, and after that', async () => {
    const server = await redisOfTest()
    await server.kill()
    const port = await freePort()
    const gateway = gatewayOfTest(['serve', '--log-format', 'json'], {
      CROSSGEAR_WEB_PORT: String(port),
      CROSSGEAR_WEB_TLS_CERT: files.cert,
      CROSSGEAR_WEB_TLS_KEY: files.key,
      CROSSGEAR_REDIS_URL: server.url,
      CROSSGEAR_GEARMAN_PORT: 'off',
      CROSSGEAR_FAKTORY_PORT: 'off',
    })
    const status = async (): Promise<number | undefined> =>
      (await askSecurely(port, '/readyz', files).catch(() => undefined))?.status
    await expect.poll(status, soon).toBe(503)
    await server.start()
    await gateway.ready
    expect(await status()).toBe(200)
  })
})
