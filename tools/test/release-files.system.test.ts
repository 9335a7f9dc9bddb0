import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeArtifacts } from '../release/artifacts.ts'
import { helm, lacksHelm } from '../testing/helm.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** The time of all files is that of the commit: a copy of the files alone has none. */
const lacksHistory = !existsSync(join(root, '.git'))

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

  test('have the same checksums each time', () => {
    const again = mkdtempSync(join(tmpdir(), 'crossgear-again-'))
    try {
      makeArtifacts({ root, into: again, compression: ['-Zgzip', '-z1'] })
      const sums = (folder: string) => readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
      expect(sums(again)).toBe(sums(into))
      expect(readdirSync(again).sort()).toEqual(files)
    } finally {
      rmSync(again, { recursive: true })
    }
  })
})
