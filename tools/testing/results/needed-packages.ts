import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const list = new URL('../../../.ci/packages', import.meta.url)

/** A line that says which Debian packages the tests of the system need, and which of them are not installed. */
export function neededPackages(): string {
  const lines = readFileSync(list, 'utf8').split('\n')
  const names = lines.filter((line) => !line.startsWith('#')).flatMap((line) => line.split(' '))
  const needed = [...names, 'valkey-server'].filter((name) => name !== '')
  const query = ['-W', '-f', '${Package} ${Status}\n', ...needed]
  const { stdout, error } = spawnSync('dpkg-query', query, { encoding: 'utf8' })
  const needs = `Needs these packages of Debian: ${needed.join(' ')}\n`
  if (error !== undefined) return needs
  const there = stdout.split('\n').filter((line) => line.endsWith('install ok installed'))
  const installed = there.map((line) => line.split(' ', 1)[0])
  const missing = needed.filter((name) => !installed.includes(name))
  const verdict = missing.length === 0 ? 'all are installed' : `not installed: ${missing.join(' ')}`
  return `${needs}Of these ${verdict}.\n`
}
