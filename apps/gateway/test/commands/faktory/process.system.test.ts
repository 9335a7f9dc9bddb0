import { once } from 'node:events'
import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { Client, Worker } from 'faktory-worker'
import FaktoryClient from 'faktory-client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { ask } from '../../doors/http/support/http-client.ts'
import { sent } from '../../web/api/support/api-gateway.ts'
import { startGateway } from '../../support/gateway-process.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { askSecurely } from '../../doors/tls/support/ask-securely.ts'
import { lacksOpenssl, makeCertificates } from '../../doors/tls/support/certificates.ts'
import { configFolder, startFaktory, writeFiles } from './support/faktory-command.ts'

const password = { 'conf.d/password.toml': '[faktory]\npassword = "sesame"\n' }
const cronEntry = (type: string, more = ''): string =>
  `[[cron]]\n  schedule = "*/5 * * * *"\n  [cron.job]\n    type = "${type}"\n${more}`

describe('crossgear faktory, without a gateway', () => {
  test('-v prints the versions, and -h all that a user has to know', async () => {
    const [version, help] = [startGateway(['faktory', '-v']), startGateway(['faktory', '-h'])]
    expect(await version.exited).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Faktory 1\.10\.0 - Crossgear \d+\.\d+\.\d+\n$/),
      stderr: '',
    })
    const { code, stdout } = await help.exited
    expect(code).toBe(0)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    for (const word of ['-b <binding>', '[throttles.QUEUE]', 'FAKTORY_ENV', 'HUP reads']) {
      expect(stdout).toContain(word)
    }
  })

  test('a file that cannot be obeyed ends it with one line and 2', async () => {
    const folder = await configFolder({ 'conf.d/statsd.toml': '[statsd]\nlocation = "x:8125"\n' })
    const { exited } = await startFaktory(['-c', folder])
    const { code, stdout, stderr } = await exited
    expect(stderr).toMatch(/^\[statsd\] in \S+\/conf\.d\/statsd\.toml cannot be obeyed: [^\n]+\n$/)
    expect([code, stdout]).toEqual([2, ''])
  })
})

describe.skipIf(lacksRedis)('crossgear faktory', () => {
  const redis = redisOfSuite({ isEmptied: true })
  const onRedis = () => ({ CROSSGEAR_REDIS_URL: `unix://${redis().path}` })

  test('opens its two ports where -b and -w say, and no other; SIGTERM ends it with 0', async () => {
    const [faktory, web] = [await freePort(), await freePort()]
    const words = ['-b', `127.0.0.2:${faktory}`, '--w', `127.0.0.3:${web}`]
    const { child, ready, exited } = await startFaktory(words, {
      env: onRedis(),
      free: false,
    })
    expect((await ready).doors).toMatchObject([
      { name: 'faktory', host: '127.0.0.2', port: faktory },
      { name: 'web', host: '127.0.0.3', port: web },
    ])
    expect((await fetch(`http://127.0.0.3:${web}/healthz`)).status).toBe(200)
    await expect(fetch(`http://127.0.0.2:${web}/healthz`)).rejects.toThrow()
    child.kill('SIGTERM')
    expect(await exited).toMatchObject({ code: 0, stderr: '' })
  })

  test('-w :0 closes the web port, and -b :0 listens everywhere, with a warning; SIGINT ends it with 0', async () => {
    const words = ['-b=:0', '-w=:0']
    const { child, ready, said, exited } = await startFaktory(words, {
      env: onRedis(),
      free: false,
    })
    expect((await ready).doors).toMatchObject([{ name: 'faktory', host: '*' }])
    await said(/The Faktory port is open to the network without a password/)
    child.kill('SIGINT')
    expect(await exited).toMatchObject({ code: 0, stderr: '' })
  })

  test('a port that is in use is named by its letter', async () => {
    const { port } = await startFaktory([], { env: onRedis() })
    const taken = await port('faktory')
    const second = await startFaktory(['-b', `127.0.0.1:${taken}`, '-w', ':0'], {
      env: onRedis(),
      free: false,
    })
    const { code, stderr } = await second.exited
    expect(stderr).toMatch(/^Port \d+ on 127\.0\.0\.1 is in use[^\n]+ -b\.\n$/)
    expect(code).toBe(1)
  })

  test('-d says where jobs are kept, and jobs of the Faktory server there are pointed at', async () => {
    const folder = await temporaryFolder()
    writeFileSync(join(folder, 'faktory.rdb'), 'REDIS')
    const { ready, said } = await startFaktory(['-d', folder], {
      env: { CROSSGEAR_STORE_PORT: '0' },
    })
    await ready
    expect(existsSync(join(folder, 'crossgear', 'store.password'))).toBe(true)
    await said(
      /The jobs of the Faktory server in \S+faktory\.rdb are not read: docs\/migrate\/from-faktory\.md/,
    )
  })

  test('in development its folders are in ~/.faktory', async () => {
    const home = await configFolder({
      '.faktory/conf.d/cron.toml': cronEntry('Five'),
      '.faktory/stray.toml': '',
    })
    const { port, said } = await startFaktory([], {
      env: { HOME: home, CROSSGEAR_STORE_PORT: '0' },
    })
    expect(await page(await port('web'), '/cron')).toMatchObject({
      cron: [{ job: { type: 'Five' } }],
    })
    expect(existsSync(join(home, '.faktory/db/crossgear/store.password'))).toBe(true)
    await said(/\.faktory\/stray\.toml is not read: move it into \S+\/conf\.d\./)
  })

  test('-l error logs no word of a usual life, -l debug more than info', async () => {
    const env = onRedis()
    const web = await freePort()
    const quiet = await startFaktory(['-l', 'error', '-w', `127.0.0.1:${web}`], { env })
    const status = async (): Promise<number> =>
      (await fetch(`http://127.0.0.1:${web}/healthz`).catch(() => undefined))?.status ?? 0
    await expect.poll(status, soon).toBe(200)
    expect(await quiet.end()).toEqual({ code: 0, stdout: '', stderr: '' })
    for (const [level, lines] of [
      ['debug', 1],
      ['info', 0],
    ] as const) {
      const loud = await startFaktory(['-l', level], { env: { ...env, FAKTORY_PASSWORD: 'x' } })
      await expect(loud.client('wrong')).rejects.toThrow('-ERR Invalid password')
      const { stdout } = await loud.end()
      expect(stdout.match(/Rejected at the faktory port: password/g) ?? []).toHaveLength(lines)
    }
  })

  test('joins the files of conf.d: password, cron entries and throttles', async () => {
    const folder = await configFolder({
      ...password,
      'conf.d/cron.toml': cronEntry('Five', '    [cron.job.custom]\n      foo = "bar"\n'),
      'conf.d/more.toml': cronEntry('Six', '    queue = "critical"\n'),
      'conf.d/throttles.toml': '[throttles]\nslow = { concurrency = 1, timeout = 60 }\n',
      'conf.d/notes.txt': 'no settings',
    })
    const { port, client } = await startFaktory(['-c', folder, '-e', 'production'], {
      env: onRedis(),
    })
    await expect(client('wrong')).rejects.toThrow('-ERR Invalid password')
    const { cron } = await page(await port('web'), '/cron')
    expect(cron).toMatchObject([
      { job: { type: 'Five', custom: { foo: 'bar' } } },
      { job: { type: 'Six', queue: 'critical' } },
    ])
    const worker = await client('sesame')
    for (const jid of ['throttled-1', 'throttled-2']) {
      await worker.ask(`PUSH {"jid":"${jid}","jobtype":"s","args":[],"queue":"slow"}`)
    }
    expect(await worker.ask('FETCH slow')).toContain('throttled-1')
    expect(await worker.ask('FETCH slow')).toBe('$-1')
    expect(await worker.ask('ACK {"jid":"throttled-1"}')).toBe('+OK')
    expect(await worker.ask('FETCH slow')).toContain('throttled-2')
  })

  test('FAKTORY_SKIP_PASSWORD opens the ports in production without one', async () => {
    const env = { ...onRedis(), FAKTORY_SKIP_PASSWORD: 'yes' }
    const words = ['-e', 'production', '-b', ':0', '-w', '0.0.0.0:0']
    const { client, port } = await startFaktory(words, { env })
    await client()
    const named = await ask(await port('web'), '/healthz', {
      method: 'GET',
      headers: { Host: 'faktory.internal' },
    })
    expect(named.status).toBe(200)
  })

  test.skipIf(lacksOpenssl)(
    'both ports speak TLS where the config folder has a certificate',
    async () => {
      const { server } = await makeCertificates()
      const folder = await configFolder()
      copyFileSync(server.cert, join(folder, 'public.cert.pem'))
      copyFileSync(server.key, join(folder, 'private.key.pem'))
      const { port, ready, exited, child } = await startFaktory(['-c', folder], { env: onRedis() })
      const socket = connect({ port: await port('faktory'), rejectUnauthorized: false })
      onTestFinished(() => void socket.destroy())
      const [hi] = (await once(socket, 'data')) as [Buffer]
      expect(hi.toString()).toBe('+HI {"v":2}\r\n')
      const web = await port('web')
      expect(await askSecurely(web, '/health', server)).toMatchObject({ status: 200 })
      await expect(fetch(`http://127.0.0.1:${web}/health`)).rejects.toThrow()
      const { doors } = await ready
      expect(doors.find(({ name }) => name === 'web')).toMatchObject({
        tls: true,
        try: `https://127.0.0.1:${web}/`,
      })
      const ca = join(folder, 'public.cert.pem')
      const health = startGateway(['health', '--url', `https://127.0.0.1:${web}`, '--ca', ca])
      expect(await health.exited).toMatchObject({ code: 0, stderr: '' })
      child.kill('SIGTERM')
      expect(await exited).toMatchObject({ code: 0, stderr: '' })
    },
  )

  test('HUP takes changed files over, and leaves all as it is if one cannot be obeyed', async () => {
    const folder = await configFolder({ ...password, 'conf.d/cron.toml': cronEntry('Old') })
    const { child, port, client, said } = await startFaktory(['-c', folder], {
      env: onRedis(),
    })
    const types = async (): Promise<readonly string[]> =>
      (await page(await port('web'), '/cron')).cron.map(({ job }) => job.type)
    expect(await types()).toEqual(['Old'])
    writeFiles(folder, { 'conf.d/cron.toml': cronEntry('New'), 'conf.d/bad.toml': '[nonsense]' })
    child.kill('SIGHUP')
    await said(/Reload \(SIGHUP\): nothing is changed: \[nonsense\] in/)
    expect(await types()).toEqual(['Old'])
    writeFiles(folder, {
      'conf.d/bad.toml': '',
      'conf.d/password.toml': '[faktory]\npassword = "other"\n',
    })
    child.kill('SIGHUP')
    await said(/Reload \(SIGHUP\): .*cron changed/)
    expect(await types()).toEqual(['New'])
    await expect(client('sesame')).rejects.toThrow('-ERR Invalid password')
    await client('other')
  })

  test('REDIS_URL of an application has no effect, and the log says so', async () => {
    const env = { REDIS_URL: 'redis://127.0.0.1:1/0', CROSSGEAR_STORE_PORT: '0' }
    const { ready, said } = await startFaktory(['-d', await temporaryFolder()], { env })
    expect((await ready).store.kind).toBe('private')
    await said(/REDIS_URL has no effect: set CROSSGEAR_REDIS_URL/)
  })

  test('serves stock clients: faktory-client pushes, faktory-worker works', async () => {
    const folder = await configFolder(password)
    const words = ['-c', folder, '-e', 'production']
    const { port } = await startFaktory(words, { env: onRedis() })
    const url = `tcp://:sesame@127.0.0.1:${await port('faktory')}`
    const producer = await new FaktoryClient({ url }).connect()
    onTestFinished(() => producer.close())
    const worker = new Worker({ url, timeout: 1 })
    onTestFinished(() => worker.stop())
    const done = new Promise((resolve) => {
      worker.register('mail', (...args: unknown[]) => resolve(args))
    })
    await worker.work()
    await producer.push({ jobtype: 'mail', args: ['to', 1], queue: 'default' })
    expect(await done).toEqual(['to', 1])
    const stranger = new Client({ url: url.replace('sesame', 'wrong') })
    await expect(stranger.connect()).rejects.toThrow()
  })
})

interface CronPage {
  readonly cron: readonly { readonly job: { readonly type: string } }[]
}

async function page(port: number, path: string): Promise<CronPage> {
  return (await sent(port, path, {})).body as CronPage
}
