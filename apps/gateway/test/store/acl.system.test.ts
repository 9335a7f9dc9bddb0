import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GearMonkeyClient, GearMonkeyWorker } from '@crossgear/gearmonkey-redis'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { Client } from 'faktory-worker'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { gatewayOfTest, startGateway } from '../support/gateway-process.ts'
import { redisOfTest } from '../support/redis-of-suite.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const page = readFileSync(new URL('../../../../docs/operate/security.md', import.meta.url), 'utf8')
const [, recipe = ''] = /<!-- acl:([^]*?)<!-- end of acl -->/.exec(page) ?? []
const lines = recipe.split('\n').filter((line) => line.startsWith('ACL SETUSER '))

describe.skipIf(lacksRedis)('a Redis with the users of docs/operate/security.md', () => {
  let redis: RedisServer

  beforeEach(async () => {
    redis = await redisOfTest()
    for (const line of lines) {
      const [command = '', ...words] = line.split(' ')
      expect(await redis.ask(command, ...words)).toBe('OK')
    }
  })

  /** The answer of Redis to a user that may not do something. */
  async function refusal(user: string, password: string, ...words: readonly [string, ...string[]]) {
    const connection = redis.connect({ username: user, password })
    const [command, ...rest] = words
    return connection.call(command, rest).then(String, (error: unknown) => (error as Error).message)
  }

  /** Refused commands of users, as Redis noted them. */
  const refused = (): Promise<string> => redis.ask('ACL', 'LOG')

  test('lets the gateway do all of its work, and nothing that runs the server', async () => {
    const url = `redis://crossgear:a-long-password@127.0.0.1:${redis.port}`
    const ports = ['gearman', 'faktory', 'web'].flatMap((door) => [`--${door}-port`, '0'])
    const gateway = gatewayOfTest(['serve', ...ports, '--redis-url', url, '--repair', 'on'])
    const { port: portOf } = await gateway.ready
    const client = new Client({ host: '127.0.0.1', port: portOf('faktory') })
    onTestFinished(() => client.close())
    const later = client.job('mail', 'later')
    later.at = new Date(Date.now() + 3_600_000)
    await later.push()
    for (let job = 0; job < 3; job += 1) await client.job('mail', job).push()
    const fetched = await client.fetch('default')
    await client.ack(fetched?.jid ?? '')
    const failed = await client.fetch('default')
    await client.fail(failed?.jid ?? '', new Error('it is tried again'))
    await client.send(['TRACK', 'GET', failed?.jid ?? ''])
    const bid = await client.send(['BATCH', 'NEW', '{"success":{"jobtype":"mail","args":[]}}'])
    await client.send(['BATCH', 'COMMIT', bid])

    const at = ['-h', '127.0.0.1', '-p', String(portOf('gearman')), '-f', 'upper']
    const worker = spawn('gearman', [...at, '-w', '-c', '1', '--', 'cat'], { stdio: 'ignore' })
    const ended = once(worker, 'exit')
    execFileSync('gearman', [...at, '-u', 'once'], { input: 'hello' })
    await ended
    for (const path of ['/readyz', '/metrics', '/api/v1/overview', '/api/v1/jobs']) {
      expect((await fetch(`http://127.0.0.1:${portOf('web')}${path}`)).status).toBe(200)
    }
    const file = join(await temporaryFolder(), 'backup.ndjson')
    const backup = await startGateway(['backup', '--redis-url', url, '--to', file]).exited
    expect([backup.code, backup.stderr]).toEqual([0, ''])
    await client.send(['FLUSH'])
    const words = ['restore', '--redis-url', url, '--from', file, '--into-used']
    expect(await startGateway(words).exited).toMatchObject({ code: 0, stderr: '' })
    expect(await refused()).toBe('')
    await redis.ask('CONFIG', 'SET', 'appendonly', 'yes')
    const doctor = await startGateway(['doctor', '--redis-url', url]).exited
    expect([doctor.code, doctor.stderr]).toEqual([0, ''])
    expect(doctor.stdout).toContain('CONFIG GET appendfsync is denied to this user')
    expect(doctor.stdout).not.toContain('cannot be checked')

    const may = (...words: readonly [string, ...string[]]) =>
      refusal('crossgear', 'a-long-password', ...words)
    const forbidden: readonly (readonly [string, ...string[]])[] = [
      ['FLUSHALL'],
      ['CONFIG', 'SET', 'appendonly', 'no'],
      ['KEYS', '*'],
      ['GET', 'session:1'],
      ['PUBLISH', 'news', 'x'],
      ['SHUTDOWN'],
    ]
    for (const words of forbidden) {
      expect([words[0], await may(...words)]).toEqual([words[0], expect.stringContaining('NOPERM')])
    }
  })

  test('lets a native program work on its function, and reach no other job', async () => {
    const url = `redis://mailer:another-password@127.0.0.1:${redis.port}`
    const worker = new GearMonkeyWorker(url)
    onTestFinished(() => worker.stop())
    await worker.accept('mail', ({ input }) => Promise.resolve(Buffer.from(input).reverse()))
    const client = new GearMonkeyClient(url)
    onTestFinished(() => client.close())
    const id = await client.run('mail', 'abc', { blocking: true, timeoutSeconds: 10 })
    expect(String((await client.get('mail', id))?.output)).toBe('cba')
    expect(await refused()).toBe('')
    for (const key of ['job:sms:1', 'xg:nodes', 'queue:mailing:high']) {
      expect(await refusal('mailer', 'another-password', 'EXISTS', key)).toContain('NOPERM')
    }
  })
})
