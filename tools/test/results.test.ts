import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type ProjectResult, resultFile } from '../testing/results/result-file.ts'
import { resultTable } from '../testing/results/result-table.ts'

const folder = fileURLToPath(new URL('support/lacking-project', import.meta.url))
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))

/** The result of a small project with tests that lack a program. */
function run(ci: string): ProjectResult {
  const result = join(folder, resultFile)
  onTestFinished(() => rmSync(result))
  const { VITEST: _, ...env } = process.env
  spawnSync(process.execPath, [vitest, 'run'], {
    cwd: folder,
    env: { ...env, CI: ci },
  })
  return JSON.parse(readFileSync(result, 'utf8')) as ProjectResult
}

test('skipped tests are counted by the program that they lack', () => {
  expect(run('')).toMatchObject({
    ...{ project: 'tools/test/support/lacking-project', hasEnded: true },
    ...{ passed: 1, failed: 0, skipped: 7 },
    lacking: { 'no-such-program': 5, 'no-other-program': 1, '': 1 },
  })
})

test('in CI no program counts as lacking: such tests run', () => {
  expect(run('true')).toMatchObject({ passed: 7, failed: 0, skipped: 1, lacking: { '': 1 } })
})

test('the table has a row for each project, what skipped tests lack, and the sums', () => {
  const result = { hasEnded: true, passed: 12, failed: 0, skipped: 0, lacking: {}, ms: 1_240 }
  const table = resultTable([
    { ...result, project: 'packages/b', skipped: 5, lacking: { 'redis-server': 3, '': 2 } },
    { ...result, project: 'apps/a', failed: 1, skipped: 4, lacking: { 'redis-server': 4 } },
    { ...result, project: 'tools', hasEnded: false, passed: 0 },
  ])
  expect(table.split('\n')).toEqual([
    'project     passed       failed  skipped  time',
    'apps/a      12           1       4        1.2 s',
    'packages/b  12           0       5        1.2 s',
    'tools       did not end',
    '',
    'skipped: 7 for want of redis-server',
    'skipped: 2 for another reason',
    '',
    '24 passed, 1 failed, 9 skipped',
  ])
})
