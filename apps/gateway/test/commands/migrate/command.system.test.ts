import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { waitFor } from '@crossgear/tools/wait-for'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readArguments as readMigrate } from '../../../src/commands/migrate/arguments.ts'
import { runMigrate } from '../../../src/commands/migrate/run-migrate.ts'
import { readArguments as readMirror } from '../../../src/commands/mirror/arguments.ts'
import { startGateway } from '../../support/gateway-process.ts'
import { heard } from '../../support/heard.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const jobs = 1_200

function lineOf(at: number): string {
  const payload = Buffer.from([0, at % 256, at >> 8]).toString('base64')
  const unique = Buffer.from(`u${at}`).toString('base64')
  const job = { state: 'queued', door: 'gearman', function: 'mail', level: 5, payload, unique }
  return JSON.stringify({ v: 1, ...job })
}

describe.skipIf(lacksRedis)('needs redis-server: crossgear migrate', () => {
  const target = redisOfSuite({ isEmptied: true })
  let folder: string
  let file: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'xg-migrate-'))
    file = join(folder, 'jobs.ndjson')
    const lines = Array.from({ length: jobs }, (_none, at) => `${lineOf(at)}\n`)
    writeFileSync(file, lines.join(''))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const start = (...words: readonly string[]) => startGateway(['migrate', ...words])
  /** Runs the command in this process. */
  const migrate = (...words: readonly string[]) => heard(runMigrate, words)
  const stored = async (): Promise<number> =>
    Number(await target().ask('LLEN', 'queue:mail:normal'))

  test('SIGINT ends it cleanly with a hint, and the same command resumes it', async () => {
    const words = ['run', '--from', `file://${file}`, '--to', target().url, '--batch', '20']
    const first = start(...words, '--rate', '400')
    await waitFor('it has begun', async () => (await stored()) > 0)
    const stopped = await first.end('SIGINT')
    expect(stopped.code).toBe(4)
    expect(stopped.stdout).toContain('Run the same command again to continue (migration file-')
    const before = await stored()
    expect(before).toBeLessThan(jobs)
    const second = await migrate(...words, '--json')
    expect(second.code).toBe(0)
    const last = second.stdout.trim().split('\n').at(-1) ?? ''
    const counts = JSON.parse(last) as Record<string, number>
    expect(counts).toMatchObject({ event: 'done', created: jobs - before, rejected: 0 })
    // The run went on behind the page that was noted last.
    expect(counts['read']).toBeLessThan(jobs)
    expect(await stored()).toBe(jobs)
  })

  test('a stopped run tells a program so', async () => {
    const words = [
      'run',
      '--from',
      `file://${file}`,
      '--to',
      target().url,
      '--batch',
      '20',
      '--json',
    ]
    const { code, stdout } = await heard(runMigrate, words, AbortSignal.abort())
    const events = stdout.trim().split('\n')
    expect([code, await stored()]).toEqual([4, 20])
    expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({ event: 'stopped', created: 20 })
    expect(events.filter((line) => line.includes('done'))).toEqual([])
  })

  test('plan, dry run, verify and rollback have their output and exit codes', async () => {
    const sides = ['--from', `file://${file}`, '--to', target().url]
    const plan = await migrate('plan', ...sides)
    expect(plan.code).toBe(0)
    expect(plan.stdout).toMatch(/^mail +queued +1200 +3600 +3$/m)
    const dry = await migrate('run', ...sides, '--dry-run')
    expect(dry.stdout).toContain('1200 would be stored')
    // The note of whose data it is, which each program that opens a store makes.
    expect(await target().ask('KEYS', '*')).toBe('xg:epochs')
    expect(plan.stdout).toMatch(
      /about 1 s: \d\.\d s to read, as now, and 10000 jobs stored a second\./,
    )
    const early = await migrate('verify', ...sides)
    expect([early.code, early.stdout]).toEqual([
      3,
      expect.stringContaining('There are differences.'),
    ])
    expect((await migrate('run', ...sides)).code).toBe(0)
    const late = await migrate('run', ...sides, '--dry-run')
    expect(late.stdout).toContain('0 would be stored, 1200 there already')
    expect((await migrate('verify', ...sides)).code).toBe(0)
    const back = await migrate('rollback', ...sides)
    expect([back.code, back.stdout]).toEqual([0, expect.stringContaining('1200 taken back')])
    expect(await stored()).toBe(0)
  })

  test('a run whose target is a file names the command that writes one', async () => {
    const sides = ['--from', `file://${file}`, '--to', `file://${folder}/new.ndjson`]
    const { code, stderr } = await migrate('run', ...sides)
    expect(code).toBe(1)
    expect(stderr).toContain(`crossgear migrate export ${sides.join(' ')}`)
  })

  test('invalid jobs are reported, counted and kept in a file', async () => {
    const bad = join(folder, 'bad.ndjson')
    const rejects = join(folder, 'rejects')
    writeFileSync(bad, `${lineOf(1)}\n{"v":1,\n${lineOf(2)}\n{"v":9}`)
    const sides = ['--from', `file://${bad}`, '--to', target().url]
    const { code, stdout, stderr } = await migrate('run', ...sides, '--rejects', rejects)
    expect([code, await stored()]).toEqual([3, 2])
    expect(stdout).toContain('2 stored')
    const verified = await migrate('verify', ...sides)
    expect(verified.code).toBe(3)
    expect(verified.stdout).toMatch(/^2 of the source are rejected: they are not in the target\.$/m)
    const machine = await migrate('verify', ...sides, '--json')
    expect(JSON.parse(machine.stdout)).toMatchObject({ equal: false, rejected: 2 })
    const full = await migrate('run', ...sides, '--rejects', '/dev/full')
    expect([full.code, full.stderr]).toEqual([
      2,
      expect.stringMatching(/^--rejects: ENOSPC: [^\n]* when there is room\.\n$/),
    ])
    expect(stderr).toMatch(/^Rejected: the line at byte \d+ is no job: it is no JSON$/m)
    const kept = readFileSync(rejects, 'utf8').trim().split('\n')
    expect(kept.map((line) => JSON.parse(line) as object)).toMatchObject([
      { reason: 'bad_row', raw: Buffer.from('{"v":1,').toString('base64') },
      { reason: 'bad_row', raw: Buffer.from('{"v":9}').toString('base64') },
    ])
  })

  test('an export is imported with the same jobs', async () => {
    const dump = join(folder, 'dump.ndjson')
    const first = await migrate('export', '--from', `file://${file}`, '--to', `file://${dump}`)
    expect(first.code).toBe(0)
    const again = await migrate('export', '--from', `file://${file}`, '--to', `file://${dump}`)
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('already exists')])
    const lines = readFileSync(dump, 'utf8').trimEnd().split('\n')
    const [last = ''] = lines.slice(-1)
    expect(JSON.parse(last)).toMatchObject({ kind: 'end', jobs: 1200 })
    for (const part of [lines.slice(0, -1), lines.toSpliced(7, 1), lines.slice(0, 3)]) {
      const cut = join(folder, 'cut.ndjson')
      writeFileSync(cut, `${part.join('\n')}\n`)
      const refused = await migrate('run', '--from', `file://${cut}`, '--to', target().url)
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining('is not a whole export'),
      ])
    }
    await migrate('run', '--from', `file://${file}`, '--to', target().url)
    const { stdout } = await migrate('run', '--from', `file://${dump}`, '--to', target().url)
    expect(stdout).toContain('0 stored, 1200 there already')
  })

  test.each([
    [['run'], 1, 'run needs --from.'],
    [['run', '--from', 'kafka://x'], 1, 'It may be: file:///path/dump.ndjson, gearmand+sqlite'],
    [['run', '--from', 'file:///no/such', '--to', 'redis://127.0.0.1:1'], 2, '/no/such: ENOENT'],
    [['plan', '--from', 'FILE', '--only', 'a', '--states', 'lost'], 1, '--states has lost'],
    [['run', '--from', 'FILE', '--to', 'redis://127.0.0.1:1'], 2, 'redis://127.0.0.1:1'],
    [['run', '--from', 'FILE', '--to', 'http://x'], 1, '--to is "http://x"'],
    [['run', '--from', 'FILE', '--to', 'TARGET', '--move'], 1, 'do not use --move'],
    [['run', '--from', 'FILE', '--map', 'x'], 1, '--map x: give old=new'],
    [['rollback', '--name', 'none', '--to', 'TARGET'], 1, 'There is no migration none'],
    [['frobnicate'], 1, 'see crossgear migrate --help'],
  ])('%j: one line, exit code %i', async (words, exitCode, line) => {
    const given = words.map((word) =>
      word.replace('FILE', `file://${file}`).replace('TARGET', target().url),
    )
    const { code, stderr } = await migrate(...given)
    expect(stderr).toContain(line)
    expect([code, stderr.trim().split('\n').length]).toEqual([exitCode, 1])
  })

  test('each command line of docs/migrate/migration.md is understood', () => {
    const page = readFileSync(
      new URL('../../../../../docs/migrate/migration.md', import.meta.url),
      'utf8',
    )
    const found = [...page.matchAll(/^(?:\$ )?crossgear (migrate|mirror) (.*)$/gm)]
    expect(found.length).toBeGreaterThan(25)
    const nowhere = { write: () => true }
    for (const [, command, line = ''] of found) {
      const words = (line.split(/ {2,}reads|;| {3,}/)[0] ?? '')
        .trim()
        .split(/ +/)
        .map((word) => word.replaceAll("'", ''))
      const read = command === 'migrate' ? readMigrate : readMirror
      expect(() => read(words, nowhere), words.join(' ')).not.toThrow()
    }
  })

  test('--help lists every source', async () => {
    const { code, stdout } = await migrate('--help')
    expect(code).toBe(0)
    expect(stdout).toContain('gearmand+sqlite:///path/file')
    expect(stdout).toContain('4 stopped half way')
  })
})
