import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LockedPackage } from '../lock-file.ts'

/** The maintainer of the packages, by the author of package.json: a name, and an address where there is one. */
export function maintainerOf(root: string): string {
  const text = readFileSync(join(root, 'package.json'), 'utf8')
  const { author } = JSON.parse(text) as { readonly author: Author }
  return author.email === undefined ? author.name : `${author.name} <${author.email}>`
}

interface Author {
  readonly name: string
  readonly email?: string
}

/** `1.0.0-rc.1` comes before `1.0.0`: Debian writes that with a tilde. */
export function debianVersion(version: string): string {
  return version.replace('-', '~')
}

interface Control {
  readonly version: string
  /** `>=20.19` */
  readonly node: string
  readonly installedKib: number
  readonly maintainer: string
}

export function control({ version, node, installedKib, maintainer }: Control): string {
  const fields = {
    Package: 'crossgear',
    Version: debianVersion(version),
    Section: 'net',
    Priority: 'optional',
    Architecture: 'all',
    Maintainer: maintainer,
    'Installed-Size': String(installedKib),
    Depends: `nodejs (${node.replace(/^>=/, '>= ')}), init-system-helpers (>= 1.54)`,
    Recommends: 'redis-server | valkey-server',
    Suggests: 'gearman-tools',
    Description: [
      'job broker gateway for Gearman, Faktory and GearMonkey',
      ' Clients and workers of the three protocols share one set of queues in Redis',
      ' or Valkey: a job that enters by any port can be done by a worker at any other',
      ' port, and no accepted job is lost. It takes the place of gearmand and of the',
      ' Faktory server.',
    ].join('\n'),
  }
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}

interface Change {
  readonly version: string
  readonly date: Date
  readonly maintainer: string
}

/** The section of CHANGELOG.md for a version, as Debian writes it. */
export function changelog(changes: string, { version, date, maintainer }: Change): string {
  const [, section = ''] = changes.split(/^## (?=[^\n]*\n)/m).filter((one) => one.includes(version))
  const subjects = [...section.matchAll(/^- (.*)$/gm)].map(([, subject = '']) => subject)
  const lines = (subjects.length > 0 ? subjects : [`Version ${version}.`]).map(
    (one) => `  * ${one}`,
  )
  const stamp = date.toUTCString().replace('GMT', '+0000')
  const heading = `crossgear (${debianVersion(version)}) unstable; urgency=medium`
  return `${heading}\n\n${lines.join('\n')}\n\n -- ${maintainer}  ${stamp}\n`
}

interface Manifest {
  readonly license?: string
}

/** The licenses of all that the package holds. The full texts lie beside what they are for. */
export function copyright(own: string, root: string, needed: readonly LockedPackage[]): string {
  const foreign = needed.filter(({ isOurs }) => !isOurs)
  const licenses = new Map<string, string>()
  for (const { name, place } of foreign) {
    const text = readFileSync(join(root, place, 'package.json'), 'utf8')
    licenses.set(name, (JSON.parse(text) as Manifest).license ?? 'unknown')
  }
  const parts = [...licenses]
    .sort()
    .map(([name, license]) =>
      [
        `Files: usr/lib/crossgear/node_modules/${name}/*`,
        `Copyright: the authors of ${name}`,
        `License: ${license.replaceAll(/[()]/g, '').replaceAll(' ', '-')}`,
        ' The text is in the folder of the package, or at the address that its package.json names.',
      ].join('\n'),
    )
  return `${[own.trimEnd(), ...parts].join('\n\n')}\n`
}
