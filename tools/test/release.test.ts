import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = join(root, 'tools/scripts/release.mjs')
const git = (...words: string[]): string =>
  execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
const release = (...words: string[]) =>
  spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' })

/** A copy of the files alone has no history. */
const lacksHistory = !existsSync(join(root, '.git'))

test.skipIf(lacksHistory)(
  'a dry run shows the version of every package and the changes, and leaves the files alone',
  () => {
    const before = git('status', '--porcelain')
    const { status, stdout, stderr } = release('77.0.0', '--dry-run')
    expect([status, stderr]).toEqual([0, expect.any(String)])
    for (const name of readdirSync(join(root, 'packages'))) {
      expect(stdout).toContain(`packages/${name}/package.json`)
    }
    expect(stdout).toContain('77.0.0')
    expect(stdout).toContain(`- ${git('log', '-1', '--no-merges', '--format=%s')}`)
    expect(git('status', '--porcelain')).toBe(before)
  },
)

test.each(['', 'next', '1.2'])('a release of %j is refused', (version) => {
  const { status, stderr } = release(version, '--dry-run')
  expect([status, stderr]).toEqual([2, expect.stringContaining('Name the version')])
})
