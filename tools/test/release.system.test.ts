import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { typescriptWords } from '../testing/gateway-program.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = join(root, 'tools/release/release.ts')
const git = (...words: string[]): string =>
  execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
const release = (...words: string[]) =>
  spawnSync(process.execPath, [...typescriptWords(), program, ...words], { encoding: 'utf8' })

/** A copy of the files alone has no history. */
const lacksHistory = !existsSync(join(root, '.git')) && 'the repository'

test.skipIf(lacksHistory)(
  'a dry run shows the version of every package, the changes and every file, and leaves the files alone',
  () => {
    const before = git('status', '--porcelain')
    const { status, stdout, stderr } = release('77.0.0', '--dry-run')
    expect([status, stderr]).toEqual([0, expect.any(String)])
    for (const name of readdirSync(join(root, 'packages'))) {
      expect(stdout).toContain(`packages/${name}/package.json`)
    }
    expect(stdout).toContain('77.0.0')
    expect(stdout).toContain(`- ${git('log', '-1', '--no-merges', '--format=%s')}`)
    const [, present] = /"version": "(.*)"/.exec(
      readFileSync(join(root, 'apps/gateway/package.json'), 'utf8'),
    ) as unknown as [string, string]
    for (const file of [
      `crossgear-gateway-${present}.tgz`,
      `crossgear-fwp-codec-${present}.tgz`,
      `crossgear_${present}_all.deb`,
      `crossgear-${present}.tgz`,
      'crossgear.cdx.json',
      'SHA256SUMS',
    ]) {
      expect(stdout).toMatch(new RegExp(`^${file}: \\d{3,} bytes$`, 'm'))
    }
    expect(git('status', '--porcelain')).toBe(before)
  },
  // The test packs, installs and makes every file.
  300_000,
)

test.each(['', 'next', '1.2'])('a release of %j is refused', (version) => {
  const { status, stderr } = release(version, '--dry-run')
  expect([status, stderr]).toEqual([2, expect.stringContaining('Name the version')])
})
