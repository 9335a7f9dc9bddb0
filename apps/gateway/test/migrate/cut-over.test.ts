import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Worker } from 'faktory-worker'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { runMigrate } from '../../src/migrate/run-migrate.ts'
import { startGateway } from '../support/gateway-process.ts'

const jobs = 200

// Faktory's own server cannot be installed here: Crossgear's Faktory door stands in for it.
describe.skipIf(lacksRedis)('needs redis-server: cutting over from a server that runs', () => {
  let folder: string
  let old: RedisServer
  let target: RedisServer
  const gateways: ReturnType<typeof startGateway>[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'xg-cut-over-'))
    ;[old, target] = await Promise.all([RedisServer.start(), RedisServer.start()])
  })
  afterAll(async () => {
    await Promise.all([old.stop(), target.stop()])
    rmSync(folder, { recursive: true })
  })
  afterEach(async () => {
    for (const { child, exited } of gateways.splice(0)) {
      child.kill('SIGTERM')
      await exited
    }
    await Promise.all([old, target].map((server) => server.ask('FLUSHALL')))
  })

  async function gatewayOn(server: RedisServer, ...words: string[]) {
    const doors = ['--gearman-port', '0', '--faktory-port', '0', '--web-port', 'off']
    const gateway = startGateway([...doors, '--redis-url', server.url, ...words])
    gateways.push(gateway)
    const ready = await gateway.ready
    const portOf = (name: string): number =>
      ready.doors.find((door) => door.name.toLowerCase() === name)?.port ?? 0
    return { faktory: portOf('faktory'), gearman: portOf('gearman') }
  }

  async function migrate(...words: readonly string[]) {
    const said = { stdout: '', stderr: '' }
    const code = await runMigrate(words, {
      env: {},
      signal: new AbortController().signal,
      stdout: { write: (text) => (said.stdout += text) },
      stderr: { write: (text) => (said.stderr += text) },
    })
    return { code, ...said }
  }

  /** Works until so many jobs are done; what they were given. */
  async function workOff(port: number, count: number): Promise<unknown[]> {
    const done: unknown[] = []
    const worker = new Worker({ host: '127.0.0.1', port, queues: ['default'], concurrency: 10 })
    await new Promise<void>((resolve, reject) => {
      worker.register('Mail', (...args: unknown[]) => {
        done.push(args[0])
        if (done.length === count) resolve()
      })
      worker.work().catch(reject)
    })
    await worker.stop()
    return done
  }

  test('jobs of a live Faktory server, with a password, move and are done by a stock worker', async () => {
    const from = await gatewayOn(old, '--faktory-password', 'secret')
    const client = new Client({ host: '127.0.0.1', port: from.faktory, password: 'secret' })
    await client.connect()
    for (let at = 0; at < jobs; at += 1) await client.job('Mail', at).push()
    await client.close()
    const sides = ['--from', `faktory://:secret@127.0.0.1:${from.faktory}`, '--to', target.url]
    const plan = await migrate('plan', ...sides)
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringMatching(/default +queued +200/)])
    const refused = await migrate('run', ...sides)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('say --move')])
    const moved = await migrate('run', ...sides, '--move')
    expect(moved.stderr).toBe('')
    expect([moved.code, moved.stdout]).toEqual([0, expect.stringContaining('200 removed')])
    expect(await old.ask('LLEN', 'queue:Mail:normal')).toBe('0')
    expect((await migrate('verify', ...sides, '--move')).code).toBe(0)
    const to = await gatewayOn(target)
    const done = await workOff(to.faktory, jobs)
    expect(done.map(Number).sort((one, other) => one - other)).toEqual(
      Array.from({ length: jobs }, (_none, at) => at),
    )
    const wrong = await migrate(
      'plan',
      '--from',
      `faktory://:wrong@127.0.0.1:${from.faktory}`,
      '--to',
      target.url,
    )
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Invalid password')])
  })
})
