import { expect, onTestFinished, test, vi } from 'vitest'
import { lacks } from '../testing/lacks.ts'
import type { FileResult } from '../testing/results/file-result.ts'
import { resultTable, slowestTests } from '../testing/results/result-table.ts'
import { isPlayed, parseRunWords, type TestKind } from '../testing/results/run-words.ts'
import { withSlowest } from '../testing/results/slowest-section.ts'

test('in CI takes no program as lacking: such tests run', () => {
  onTestFinished(() => void vi.unstubAllEnvs())
  const lacked = (ci: string) => {
    vi.stubEnv('CI', ci)
    return lacks('no-such-program', '--version')
  }
  expect([lacked(''), lacked('true')]).toEqual(['no-such-program', false])
})

const played = (name: string, ms = 1, fault = '') => ({
  place: `${name}.test.ts:7`,
  name,
  ms,
  fault,
})
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
        failed: [played('bad', 1, 'expected 1 to be 2 (bad.test.ts:9)')],
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
    '  expected 1 to be 2 (bad.test.ts:9)',
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
