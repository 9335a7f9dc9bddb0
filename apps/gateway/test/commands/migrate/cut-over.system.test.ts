import { join } from 'node:path'
import { Client, Worker } from 'faktory-worker'
import { Gearmand, lacksGearmand } from '@crossgear/tools/gearmand'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { waitFor } from '@crossgear/tools/wait-for'
import { describe, expect, test } from 'vitest'
import { runMigrate } from '../../../src/commands/migrate/run-migrate.ts'
import { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { workingPeer } from '../../doors/gearman/support/working-peer.ts'
import { gatewayOfTest, wordsOn } from '../../support/gateway-process.ts'
import { heard } from '../../support/heard.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'
import { configFile, temporaryFolder } from '../../support/temporary-folder.ts'

const jobs = 200

// Faktory's own server cannot be installed here: Crossgear's Faktory door stands in for it.
describe.skipIf(lacksRedis)('needs redis-server: cutting over from a server that runs', () => {
  const old = redisOfSuite({ isEmptied: true })
  const target = redisOfSuite({ isEmptied: true })

  const gatewayOn = (server: RedisServer, ...words: readonly string[]) =>
    gatewayOfTest([...wordsOn(server, 'gearman', 'faktory'), ...words])
  const portsOn = async (...how: Parameters<typeof gatewayOn>) => {
    const { port } = await gatewayOn(...how).ready
    return { faktory: port('faktory'), gearman: port('gearman') }
  }
  const migrate = (...words: readonly string[]) => heard(runMigrate, words)

  /** Works until so many jobs are done; what they were given. */
  async function workOff(port: number, count: number, more: object = {}): Promise<unknown[]> {
    const done: unknown[] = []
    const worker = new Worker({ host: '127.0.0.1', port, concurrency: 10, ...more })
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
    const from = await portsOn(old(), '--faktory-password', 'secret')
    const client = new Client({ host: '127.0.0.1', port: from.faktory, password: 'secret' })
    await client.connect()
    for (let at = 0; at < jobs; at += 1) await client.job('Mail', at).push()
    await client.close()
    const sides = ['--from', `faktory://:secret@127.0.0.1:${from.faktory}`, '--to', target().url]
    const plan = await migrate('plan', ...sides)
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringMatching(/default +queued +200/)])
    const refused = await migrate('run', ...sides)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('use --move')])
    const moved = await migrate('run', ...sides, '--move')
    expect(moved.stderr).toBe('')
    expect([moved.code, moved.stdout]).toEqual([0, expect.stringContaining('200 removed')])
    expect(await old().ask('LLEN', 'queue:Mail:normal')).toBe('0')
    expect((await migrate('verify', ...sides, '--move')).code).toBe(0)
    const to = await portsOn(target())
    const done = await workOff(to.faktory, jobs)
    expect(done.map(Number).sort((one, other) => one - other)).toEqual(
      Array.from({ length: jobs }, (_none, at) => at),
    )
    const wrongly = ['--from', `faktory://:wrong@127.0.0.1:${from.faktory}`, '--to', target().url]
    const wrong = await migrate('plan', ...wrongly)
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Invalid password')])
  })

  test('Faktory to Crossgear and back: jobs that wait go to the old server, and its stock worker does each once', async () => {
    const from = await portsOn(target())
    const back = await portsOn(old(), '--faktory-password', 'secret')
    const client = new Client({ host: '127.0.0.1', port: from.faktory })
    await client.connect()
    for (let at = 0; at < 50; at += 1) await client.job('Mail', at).push()
    await client.close()
    const words = [
      'run',
      '--from',
      `faktory://127.0.0.1:${from.faktory}`,
      '--move',
      '--to',
      `faktory://:secret@127.0.0.1:${back.faktory}`,
      '--journal',
      join(await temporaryFolder(), 'journal'),
    ]
    const moved = await migrate(...words)
    expect([moved.code, moved.stdout]).toEqual([0, expect.stringContaining('50 removed')])
    expect(await target().ask('LLEN', 'queue:Mail:normal')).toBe('0')
    const done = await workOff(back.faktory, 50, { password: 'secret' })
    expect(new Set(done).size).toBe(50)
  })

  test.skipIf(lacksGearmand)(
    'gearmand to Crossgear and back: workers serve both, and each job is done once',
    async () => {
      const gearmand = await Gearmand.start()
      const { port } = gearmand
      try {
        const { gearman } = await portsOn(target())
        // 1. Jobs wait at the old server, and its clients turn to Crossgear.
        await submit(port, 'old', 50)
        await submit(gearman, 'new', 50)
        // 2. Workers serve both.
        const workers = [await work(port), await work(gearman)]
        const [atOld, atNew] = workers.map(({ got }) => got) as [string[], string[]]
        const sides = ['--from', `gearman://127.0.0.1:${port}`, '--to', target().url]
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
        for (const { peer } of workers) await peer.leave()
        // 3. Back again, with the two sides exchanged.
        await submit(gearman, 'back', 50)
        const journal = ['--journal', join(await temporaryFolder(), 'journal')]
        const [from, to] = [gearman, port].map((at) => `gearman://127.0.0.1:${at}`)
        const back = ['--from', from ?? '', '--to', to ?? '', '--move', ...journal]
        const returned = await migrate('run', ...back)
        expect([returned.code, returned.stdout]).toEqual([0, expect.stringContaining('50 removed')])
        const { peer, got: again } = await work(port)
        await waitFor('all that went back is done', () => Promise.resolve(again.length >= 50))
        expect(new Set(again).size).toBe(50)
        await peer.leave()
        expect(done()).toHaveLength(100)
      } finally {
        await gearmand.stop()
      }
    },
  )

  test('Gearman clients to Faktory workers, one function by its route, and back without it', async () => {
    const config = await configFile('[routes.mail]\nqueue = "mails"\n')
    const gateway = gatewayOn(target(), '--config', config)
    const { port } = await gateway.ready
    const { peer: resizer, got: resized } = await work(port('gearman'), 'resize')
    const mailed: unknown[] = []
    const worker = new Worker({ host: '127.0.0.1', port: port('faktory'), queues: ['mails'] })
    worker.register('mail', (...args: unknown[]) => void mailed.push(args[0]))
    worker.register('resize', (...args: unknown[]) => void mailed.push(args[0]))
    await worker.work()
    const client = await GearmanPeer.connect(port('gearman'))
    await client.submit('SUBMIT_JOB', 'mail', '', 'by Faktory')
    expect((await client.receive())[0]).toBe('WORK_COMPLETE')
    await client.submit('SUBMIT_JOB', 'resize', '', 'by Gearman')
    expect((await client.receive())[0]).toBe('WORK_COMPLETE')
    expect([mailed, resized]).toEqual([['by Faktory'], ['by Gearman']])
    await Promise.all([worker.stop(), resizer.leave(), client.leave()])
    await gateway.end()
    const plain = await portsOn(target())
    const { peer: mailer, got: done } = await work(plain.gearman)
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
  const work = (port: number, fn = 'mail') =>
    workingPeer(port, fn, () => [['WORK_COMPLETE', 'done']])
})
