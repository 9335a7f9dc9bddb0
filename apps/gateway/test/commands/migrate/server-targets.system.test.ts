import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'faktory-worker'
import { freePort } from '@crossgear/tools/free-port'
import { Gearmand, lacksGearmand } from '@crossgear/tools/gearmand'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { waitFor } from '@crossgear/tools/wait-for'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runMigrate } from '../../../src/commands/migrate/run-migrate.ts'
import { startGateway, wordsOn } from '../../support/gateway-process.ts'
import { heard } from '../../support/heard.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const jobs = 2_000

interface Job {
  readonly payload: Buffer
  readonly [more: string]: unknown
}

function lineOf({ payload, ...more }: Job): string {
  const job = { v: 1, state: 'queued', door: 'gearman', function: 'mail', level: 5, ...more }
  return `${JSON.stringify({ ...job, payload: payload.toString('base64') })}\n`
}

describe('crossgear migrate into another server', () => {
  let folder: string
  let file: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'xg-to-server-'))
    file = join(folder, 'jobs.ndjson')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const migrate = (...words: readonly string[]) => heard(runMigrate, words)

  describe.skipIf(lacksGearmand)('needs gearmand: a gearmand', () => {
    let port: number
    let gearmand: Gearmand

    beforeAll(async () => {
      gearmand = await Gearmand.start()
      port = gearmand.port
    })
    afterAll(() => gearmand.stop())

    const queued = (): Promise<number> => gearmand.jobs('mail')

    test('killed at ten random moments and run again, gearmand has each job once and its stock worker does it', async () => {
      const lines = Array.from({ length: jobs }, (_none, at) =>
        lineOf({ payload: Buffer.from(`job ${at}`) }),
      )
      writeFileSync(file, lines.join(''))
      const journal = join(folder, 'kills.journal')
      const sides = ['--from', `file://${file}`, '--to', `gearman://127.0.0.1:${port}`]
      const words = ['run', ...sides, '--journal', journal, '--batch', '50', '--rate', '1500']
      let killed = 0
      for (let time = 0; time < 10; time += 1) {
        const enough = (await queued()) + 1 + Math.floor(Math.random() * 150)
        const { child, exited } = startGateway(['migrate', ...words])
        let isOver = false
        void exited.then(() => (isOver = true))
        await waitFor('it has sent enough', async () => isOver || (await queued()) >= enough)
        child.kill('SIGKILL')
        if ((await exited).code === null) killed += 1
      }
      expect(killed).toBeGreaterThan(4)
      const last = await migrate(...words, '--json')
      expect(last.code).toBe(0)
      expect(await queued()).toBe(jobs)
      const taken = join(folder, 'taken')
      const perl = `use Gearman::Worker; my $w = Gearman::Worker->new(job_servers => ['127.0.0.1:${port}']);
        open(my $out, '>', '${taken}'); my $n = 0;
        $w->register_function(mail => sub { print $out $_[0]->arg, "\\n"; $n++; 'done' });
        $w->work(stop_if => sub { my ($idle) = @_; $n >= ${jobs} && $idle });`
      const ended = spawn('perl', ['-e', perl], { stdio: 'inherit' })
      await once(ended, 'exit')
      const done = readFileSync(taken, 'utf8').trim().split('\n')
      expect(done.length).toBe(jobs)
      expect(new Set(done).size).toBe(jobs)
      expect(await queued()).toBe(0)
    })

    test('acts that need a list of jobs are refused in one line for a server that has none', async () => {
      const sides = ['--from', `file://${file}`, '--to', `gearman://127.0.0.1:${port}`]
      const journal = ['--journal', join(folder, 'refused.journal')]
      const refused = [
        [['run', ...sides], 'needs --journal FILE: such a server does not record which jobs came'],
        [['verify', ...sides], 'verify cannot be done with gearman://'],
        [['rollback', ...sides], 'nobody can take a queued job back there: move it, with --from'],
        [['run', ...sides, ...journal, '--durability', 'fsync'], '--durability and --data-dir'],
        [['run', ...sides, ...journal, '--in-doubt', 'maybe'], 'give repeat or leave'],
        [['run', ...sides.slice(0, 2), ...journal], '--journal and --in-doubt are for other'],
      ] as const
      for (const [words, line] of refused) {
        const { code, stderr } = await migrate(...words)
        expect([code, stderr]).toEqual([1, expect.stringContaining(line)])
        expect(stderr.trim().split('\n').length).toBe(1)
      }
      const nobody = `gearman://127.0.0.1:${await freePort()}`
      const away = await migrate('run', ...sides.slice(0, 2), '--to', nobody, ...journal)
      expect([away.code, away.stderr]).toEqual([2, expect.stringContaining('ECONNREFUSED')])
    })
  })

  // Faktory's own server cannot be installed here: Crossgear's Faktory door stands in for it.
  describe.skipIf(lacksRedis)('needs redis-server: a Faktory server', () => {
    const server = redisOfSuite({ isEmptied: true })
    let gateway: ReturnType<typeof startGateway>
    let port: number

    beforeAll(async () => {
      gateway = startGateway([...wordsOn(server(), 'faktory'), '--faktory-password', 'secret'])
      port = (await gateway.ready).port('faktory')
    })
    afterAll(async () => void (await gateway.end()))

    test('jobs of all doors arrive with all fields that Faktory has, and a stock worker does each once', async () => {
      const dueMs = Date.now() + 86_400_000
      const envelope = (jid: string, queue: string): string =>
        JSON.stringify({ jid, jobtype: 'Mail', queue, retry: 3, custom: { big: 1 } })
      const last = { retry_count: 2, message: 'no', errtype: 'E', remaining: 1 }
      const failure = JSON.stringify({ ...last, attempts: [{ message: 'old' }] })
      const faktory = { door: 'faktory', function: 'Mail' }
      const lines = [
        lineOf({ payload: Buffer.from([0, 255, 1]) }),
        lineOf({ payload: Buffer.from('plain text') }),
        lineOf({
          ...faktory,
          payload: Buffer.from('[1,12345678901234567890]'),
          jid: 'jid-number-1',
          envelope: envelope('jid-number-1', 'bulk'),
          queue: 'bulk',
        }),
        lineOf({
          ...faktory,
          payload: Buffer.from('["again"]'),
          state: 'retry',
          due_ms: dueMs,
          failure,
          jid: 'jid-number-2',
          envelope: envelope('jid-number-2', 'default'),
        }),
        lineOf({ payload: Buffer.from('x'), state: 'dead', function: 'gone' }),
      ]
      writeFileSync(file, lines.join(''))
      const to = `faktory://:secret@127.0.0.1:${port}`
      const journal = ['--journal', join(folder, 'faktory.journal')]
      const words = ['run', '--from', `file://${file}`, '--to', to, ...journal]
      const first = await migrate(...words)
      expect([first.code, first.stderr]).toEqual([
        3,
        'Rejected: gone: nobody can push a job that is dead\n',
      ])
      expect(first.stdout).toContain('5 read: 4 stored, 0 there already')
      expect(first.stdout).toContain('it cannot tell a second push from a first one')
      expect(readFileSync(journal[1] ?? '', 'utf8')).not.toContain('secret')
      expect((await migrate(...words)).stdout).toContain('0 stored, 4 there already')
      const found: unknown[] = []
      const queues = ['default', 'bulk']
      const worker = new Worker({ host: '127.0.0.1', port, password: 'secret', queues })
      await new Promise<void>((resolve, reject) => {
        const take = (...args: unknown[]): void => {
          if (found.push(args) === 3) resolve()
        }
        worker.register('mail', take)
        worker.register('Mail', take)
        worker.work().catch(reject)
      })
      await worker.stop()
      const texts = found.map((args) => JSON.stringify(args)).sort()
      expect(texts).toEqual(['["AP8B"]', '["plain text"]', '[1,12345678901234567000]'])
      const scheduled = await server().ask(
        'ZRANGE',
        'queue:Mail:scheduled',
        '0',
        '-1',
        'WITHSCORES',
      )
      const [id = '', dueSeconds] = scheduled.split(/[\n,]/)
      expect(Number(dueSeconds)).toBeCloseTo(dueMs / 1000, 0)
      const kept = await server().ask('HGET', `job:Mail:${id}`, 'failure')
      expect(JSON.parse(kept)).toEqual(last)
    })

    test('a wrong password is one line', async () => {
      const to = `faktory://:wrong@127.0.0.1:${port}`
      const journal = ['--journal', join(folder, 'wrong.journal')]
      const sides = ['--from', `file://${file}`, '--to', to]
      const { code, stderr } = await migrate('run', ...sides, ...journal)
      expect([code, stderr]).toEqual([2, expect.stringContaining('Invalid password')])
      expect(stderr).not.toContain('wrong')
    })
  })
})
