import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Worker } from 'faktory-worker'
import { Gearmand, lacksGearmand } from '@crossgear/tools/gearmand'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { waitFor } from '@crossgear/tools/wait-for'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { runMigrate } from '../../src/migrate/run-migrate.ts'
import { GearmanPeer } from '../gearman/support/gearman-peer.ts'
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
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('use --move')])
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

  test('Faktory to Crossgear and back: jobs that wait go to the old server, and its stock worker does each once', async () => {
    const from = await gatewayOn(target)
    const back = await gatewayOn(old, '--faktory-password', 'secret')
    const client = new Client({ host: '127.0.0.1', port: from.faktory })
    await client.connect()
    for (let at = 0; at < 50; at += 1) await client.job('Mail', at).push()
    await client.close()
    const words = [
      ...['run', '--from', `faktory://127.0.0.1:${from.faktory}`, '--move'],
      ...['--to', `faktory://:secret@127.0.0.1:${back.faktory}`],
      ...['--journal', join(folder, 'faktory-back.journal')],
    ]
    const moved = await migrate(...words)
    expect([moved.code, moved.stdout]).toEqual([0, expect.stringContaining('50 removed')])
    expect(await target.ask('LLEN', 'queue:Mail:normal')).toBe('0')
    const done: unknown[] = []
    const worker = new Worker({ host: '127.0.0.1', port: back.faktory, password: 'secret' })
    await new Promise<void>((resolve, reject) => {
      worker.register('Mail', (...args: unknown[]) => {
        if (done.push(args[0]) === 50) resolve()
      })
      worker.work().catch(reject)
    })
    await worker.stop()
    expect(new Set(done).size).toBe(50)
  })

  test.skipIf(lacksGearmand)(
    'gearmand to Crossgear and back: workers serve both, and each job is done once',
    async () => {
      const gearmand = await Gearmand.start()
      const { port } = gearmand
      try {
        const { gearman } = await gatewayOn(target)
        // 1. Jobs wait at the old server, and its clients turn to Crossgear.
        await submit(port, 'old', 50)
        await submit(gearman, 'new', 50)
        // 2. Workers serve both.
        const [atOld, atNew]: [string[], string[]] = [[], []]
        const workers = [await work(port, atOld), await work(gearman, atNew)]
        const sides = ['--from', `gearman://127.0.0.1:${port}`, '--to', target.url]
        const moved = await migrate('run', ...sides, '--move')
        const done = (): string[] => [...atOld, ...atNew]
        await waitFor('all jobs are done', () => Promise.resolve(done().length >= 100))
        expect(new Set(done()).size).toBe(100)
        // Jobs that the old server's worker took during the run are told of, and no others.
        const gone =
          /^Rejected: (\d+) jobs of mail are not handed out now: they are due later, or gone\n$/
        const [, taken] = gone.exec(moved.stderr) ?? []
        if (taken === undefined) expect([moved.code, moved.stderr]).toEqual([0, ''])
        else {
          expect(moved.code).toBe(3)
          expect(atOld.length).toBeGreaterThanOrEqual(Number(taken))
        }
        for (const worker of workers) await worker.leave()
        // 3. Back again, with the two sides exchanged.
        await submit(gearman, 'back', 50)
        const journal = ['--journal', join(folder, 'gearman-back.journal')]
        const back = [
          '--from',
          `gearman://127.0.0.1:${gearman}`,
          '--to',
          `gearman://127.0.0.1:${port}`,
        ]
        const returned = await migrate('run', ...back, '--move', ...journal)
        expect([returned.code, returned.stdout]).toEqual([0, expect.stringContaining('50 removed')])
        const again: string[] = []
        const worker = await work(port, again)
        await waitFor('all that went back is done', () => Promise.resolve(again.length >= 50))
        expect(new Set(again).size).toBe(50)
        await worker.leave()
        expect(done()).toHaveLength(100)
      } finally {
        await gearmand.stop()
      }
    },
  )

  test('Gearman clients to Faktory workers, one function by its route, and back without it', async () => {
    const config = join(folder, 'crossgear.toml')
    writeFileSync(config, '[routes.mail]\nqueue = "mails"\n')
    const routed = await gatewayOn(target, '--config', config)
    const resized: string[] = []
    const resizer = await work(routed.gearman, resized, 'resize')
    const mailed: unknown[] = []
    const worker = new Worker({ host: '127.0.0.1', port: routed.faktory, queues: ['mails'] })
    worker.register('mail', (...args: unknown[]) => void mailed.push(args[0]))
    worker.register('resize', (...args: unknown[]) => void mailed.push(args[0]))
    await worker.work()
    const client = await GearmanPeer.connect(routed.gearman)
    await client.submit('SUBMIT_JOB', 'mail', '', 'by Faktory')
    expect((await client.receive())[0]).toBe('WORK_COMPLETE')
    await client.submit('SUBMIT_JOB', 'resize', '', 'by Gearman')
    expect((await client.receive())[0]).toBe('WORK_COMPLETE')
    expect([mailed, resized]).toEqual([['by Faktory'], ['by Gearman']])
    await Promise.all([worker.stop(), resizer.leave(), client.leave()])
    for (const { child, exited } of gateways.splice(0)) {
      child.kill('SIGTERM')
      await exited
    }
    const plain = await gatewayOn(target)
    const done: string[] = []
    const mailer = await work(plain.gearman, done)
    const again = await GearmanPeer.connect(plain.gearman)
    await again.submit('SUBMIT_JOB', 'mail', '', 'back')
    expect((await again.receive())[0]).toBe('WORK_COMPLETE')
    expect(done).toEqual(['back'])
    await Promise.all([mailer.leave(), again.leave()])
  })

  /** Submits background jobs of the function mail. */
  async function submit(port: number, name: string, count: number): Promise<void> {
    const peer = await GearmanPeer.connect(port)
    for (let at = 0; at < count; at += 1)
      await peer.submit('SUBMIT_JOB_BG', 'mail', `${name}-${at}`, `${name} ${at}`)
    await peer.leave()
  }

  /** A worker that does jobs of a function until it leaves. */
  async function work(port: number, done: string[], fn = 'mail'): Promise<GearmanPeer> {
    const peer = await GearmanPeer.connect(port)
    peer.send('CAN_DO', fn).send('GRAB_JOB')
    const loop = async (): Promise<void> => {
      for (;;) {
        const [name, handle = '', , payload = ''] = await peer.receive()
        if (name === 'NO_JOB') peer.send('PRE_SLEEP')
        else if (name === 'NOOP') peer.send('GRAB_JOB')
        else if (name === 'JOB_ASSIGN') {
          done.push(payload)
          peer.send('WORK_COMPLETE', handle, 'done').send('GRAB_JOB')
        }
      }
    }
    void loop()
    return peer
  }
})
