import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacks } from '../testing/lacks.ts'
import type { FileResult } from '../testing/results/file-result.ts'
import { resultTable, slowestTests } from '../testing/results/result-table.ts'
import { isPlayed, parseRunWords, type TestKind } from '../testing/results/run-words.ts'
import { withSlowest } from '../testing/results/slowest-section.ts'
import { runWords } from './support/run-words.ts'

const projects = fileURLToPath(new URL('support/run-projects/', import.meta.url))

/** Runs a small project, and returns the words of the run. */
function run(project: string) {
  const { VITEST: _, ...env } = process.env
  const words = [...runWords, 'quick', '--root', `${projects}${project}`]
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    env: { ...env, CI: '' },
    encoding: 'utf8',
  })
  const said = stripVTControlCharacters(stdout)
  return { status, said, lines: said.split('\n'), errors: stripVTControlCharacters(stderr) }
}

describe('a run', () => {
  test('counts skipped tests by the program that they lack', () => {
    const { status, lines } = run('lacking')
    expect(status).toBe(0)
    expect(lines).toEqual(
      expect.arrayContaining([
        'skipped: 5 for want of no-such-program',
        'skipped: 1 for want of no-other-program',
        'skipped: 1 for another reason',
        expect.stringMatching(/^1 passed, 0 failed, 7 skipped in \d+:\d\d$/),
      ]),
    )
  })

  test('in CI takes no program as lacking: such tests run', () => {
    onTestFinished(() => void vi.unstubAllEnvs())
    const lacked = (ci: string) => {
      vi.stubEnv('CI', ci)
      return lacks('no-such-program', '--version')
    }
    expect([lacked(''), lacked('true')]).toEqual(['no-such-program', false])
  })

  describe('with tests that fail', () => {
    let failing: ReturnType<typeof run>
    // Vite keeps what it has compiled in folders of that name.
    const files = () =>
      readdirSync(projects, { recursive: true, encoding: 'utf8' })
        .filter((file) => !file.includes('node_modules'))
        .toSorted()
    const before = files()
    beforeAll(() => {
      failing = run('failing')
    })

    test('names each failed test with its file and line, and each file that cannot be loaded', () => {
      const { status, said, errors } = failing
      const place = 'tools/test/support/run-projects/failing'
      expect(status).toBe(1)
      expect(said).toContain(`
failed: ${place}/broken.check.ts:1 the file
failed: ${place}/declared.ts:10 declared by a helper
failed: ${place}/failing.check.ts:7 a suite > with a test that fails
`)
      expect(said).toMatch(/^1 passed, 3 failed, 0 skipped in/m)
      expect(errors).toContain('this file cannot be loaded')
      expect(errors).toMatch(/expected 'what came' to be 'what was expected'/)
    })

    test('shows with each file how far it is', () => {
      const shown = failing.lines.filter((line) => /^[✓✗]/.test(line))
      expect(shown.map((line) => line.slice(0, '✗ 1 of 2'.length))).toEqual([
        '✗ 1 of 2',
        '✗ 2 of 2',
      ])
    })

    test('leaves no file behind that another run could read', () => {
      expect(files()).toEqual(before)
    })
  })
})

const played = (name: string, ms = 1) => ({ place: `${name}.test.ts:7`, name, ms })
const ended: FileResult = {
  project: 'packages/b',
  file: 'packages/b/test/x.test.ts',
  passed: [played('quick', 3), played('slow', 70)],
  failed: [],
  skipped: 0,
  lacking: {},
  ms: 620,
}

test('the table has a row for each project, also for one of which no file has ended', () => {
  const table = resultTable({
    planned: [
      { project: 'packages/b', files: 2 },
      { project: 'apps/a', files: 5 },
      { project: 'tools', files: 3 },
    ],
    ended: [
      { ...ended, skipped: 5, lacking: { 'redis-server': 3, '': 2 } },
      ended,
      {
        ...ended,
        project: 'apps/a',
        failed: [played('bad')],
        skipped: 4,
        lacking: { 'redis-server': 4 },
      },
    ],
  })
  expect(table.split('\n')).toEqual([
    'project     files   passed  failed  skipped  time',
    'apps/a      1 of 5  2       1       4        0.6 s',
    'packages/b  2       4       0       5        1.2 s',
    'tools       0 of 3  0       0       0        0.0 s',
    '',
    'skipped: 7 for want of redis-server',
    'skipped: 2 for another reason',
    '',
    'failed: bad.test.ts:7 bad',
    '',
    '6 passed, 1 failed, 9 skipped',
  ])
})

test('the slowest tests come first, with their places', () => {
  expect(slowestTests([ended, { ...ended, failed: [played('slower', 2_000)] }], 2)).toEqual([
    '2.0 s  slower.test.ts:7 slower',
    '0.1 s  slow.test.ts:7 slow',
  ])
})

test('the list of the slowest tests of a page is written anew, with day, machine and load', () => {
  const page = '# Page\n\n<!-- slowest -->\n\nformer\n\n<!-- /slowest -->\n\nMore.\n'
  const machine = {
    day: '2026-01-31',
    files: 353,
    processor: 'P $1',
    cores: 2,
    node: '20.1.2',
    load: 0.25,
  }
  const written = withSlowest(page, ['2.0 s  a.test.ts:7 slow'], machine)
  expect(written).toBe(`# Page

<!-- slowest -->

2026-01-31, 353 files, P $1, 2 cores, Node 20.1.2, load 0.3 at the start:

\`\`\`
2.0 s  a.test.ts:7 slow
\`\`\`

<!-- /slowest -->

More.
`)
  expect(withSlowest(written, ['2.0 s  a.test.ts:7 slow'], machine)).toBe(written)
  expect(() => withSlowest('# Page\n', [], machine)).toThrow('no <!-- slowest -->')
})

test('a file is of the system by its name, and all kinds have each file once', () => {
  const files = ['a.test.ts', 'b.system.test.ts']
  const playedIn = (kind: TestKind) => files.map((file) => isPlayed({ kind, files: [] }, file))
  expect(playedIn('quick')).toEqual([true, false])
  expect(playedIn('system')).toEqual([false, true])
  expect(playedIn('all')).toEqual([true, true])
})

test('a run with parts of paths plays the files that have one of them, from the top of the repository', () => {
  const choice = {
    kind: 'quick',
    files: ['redis-store/test/scale', 'packages/b/test/x.test.ts'],
  } as const
  const files = [
    'packages/redis-store/test/scale/leases.test.ts',
    'packages/b/test/x.test.ts',
    'packages/b/test/y.test.ts',
  ]
  expect(files.map((file) => isPlayed(choice, file))).toEqual([true, true, false])
})

test('the words of a run choose its kind, its files, projects and tests', () => {
  const words = 'system debian --project tools --project apps/gateway -t name --slowest 20'
  expect(parseRunWords(words.split(' '))).toEqual({
    kind: 'system',
    files: ['debian'],
    projects: ['tools', 'apps/gateway'],
    named: 'name',
    slowest: 20,
    into: undefined,
    root: undefined,
  })
  expect(() => parseRunWords(['debian'])).toThrow('The first word is quick, system or all.')
})
