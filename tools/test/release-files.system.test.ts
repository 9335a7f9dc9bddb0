import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeArtifacts } from '../release/artifacts.ts'
import { typescriptWords } from '../testing/gateway-program.ts'
import { helm, lacksHelm } from '../testing/helm.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** The time of all files is that of the commit: a copy of the files alone has none. */
const lacksHistory = !existsSync(join(root, '.git'))

const git = (...words: string[]): string =>
  execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
const program = join(root, 'tools/release/release.ts')
const release = (...words: string[]) =>
  spawnSync(process.execPath, [...typescriptWords(), program, ...words], { encoding: 'utf8' })

/** The entries of an archive, as `tar` lists them: `lrwxrwxrwx 0/0 0 2026-01-01 00:00 a -> b`. */
function entriesOf(file: string): readonly string[] {
  const listed = file.endsWith('.deb')
    ? execFileSync('dpkg-deb', ['--contents', file], { encoding: 'utf8' })
    : execFileSync('tar', ['-tvzf', file], { encoding: 'utf8' })
  return listed.trimEnd().split('\n')
}

const isLink = (entry: string): boolean => /^[lh]/.test(entry)

describe.skipIf(lacksHistory)('the files of a release', { timeout: 300_000 }, () => {
  let into: string
  let files: readonly string[]
  const only = (pattern: RegExp): string =>
    join(
      into,
      files.find((name) => pattern.test(name))!,
    )

  beforeAll(() => {
    into = mkdtempSync(join(tmpdir(), 'crossgear-files-'))
    files = makeArtifacts({ root, into, compression: ['-Zgzip', '-z1'] })
  }, 300_000)
  afterAll(() => rmSync(into, { recursive: true }))

  test('that npm and Helm unpack have no link in them', () => {
    const archives = files.filter((name) => name.endsWith('.tgz'))
    expect(archives.length).toBeGreaterThan(5)
    for (const name of archives) {
      expect([name, entriesOf(join(into, name)).filter(isLink)]).toEqual([name, []])
    }
  })

  test('for Debian have links to files of the same package alone', () => {
    const entries = entriesOf(only(/\.deb$/))
    const paths = new Set(entries.map((entry) => /\.\/.*$/.exec(entry)?.[0].split(' -> ')[0]))
    const links = entries.filter(isLink)
    expect(links.length).toBeGreaterThan(1)
    for (const link of links) {
      const [, path = '', target = ''] = /(\.\/\S+) -> (\S+)$/.exec(link) ?? []
      expect([target, isAbsolute(target)]).toEqual([target, false])
      expect(paths).toContain(`./${posix.join(posix.dirname(path), target)}`)
    }
  })

  test.skipIf(lacksHelm)(
    'have a chart with its rules and dashboard, wherever it is unpacked',
    () => {
      const elsewhere = mkdtempSync(join(tmpdir(), 'crossgear-chart-'))
      try {
        execFileSync('tar', ['-xzf', only(/^crossgear-\d.*\.tgz$/), '-C', elsewhere])
        const passwords = ['redisUrl=redis://r', 'faktoryPassword=f', 'webPassword=w']
        const parts = ['prometheusRule.enabled=true', 'dashboard.enabled=true']
        const values = [...passwords.map((word) => `secret.${word}`), ...parts]
        const set = values.flatMap((value) => ['--set', value])
        const rendered = (chart: string) => helm('template', 'crossgear', chart, ...set)
        const text = rendered(join(elsewhere, 'crossgear'))
        expect(text).toBe(rendered(join(root, 'deploy/helm/crossgear')))
        for (const part of ['alert: ', 'panels']) expect(text).toContain(part)
      } finally {
        rmSync(elsewhere, { recursive: true })
      }
    },
  )

  test('have the same checksums each time; a dry run shows the version of every package, the changes and every file', () => {
    const again = mkdtempSync(join(tmpdir(), 'crossgear-again-'))
    try {
      const before = git('status', '--porcelain')
      const { status, stdout, stderr } = release('77.0.0', '--dry-run', '--files', again)
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
      const sums = (folder: string) => readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
      expect(sums(again)).toBe(sums(into))
      expect(readdirSync(again).sort()).toEqual(files)
    } finally {
      rmSync(again, { recursive: true })
    }
  })
})

test.each(['', 'next', '1.2'])('a release of %j is refused', (version) => {
  const { status, stderr } = release(version, '--dry-run')
  expect([status, stderr]).toEqual([2, expect.stringContaining('Name the version')])
})
