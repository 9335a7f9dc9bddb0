import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { neededPackages, programPlace, type LockedPackage } from './lock-file.ts'

const fileName = 'npm-shrinkwrap.json'

/** Fields of an entry that npm reads. */
const fields = [
  'version',
  'integrity',
  'license',
  'dependencies',
  'optionalDependencies',
  'optional',
  'peerDependencies',
  'peerDependenciesMeta',
  'bin',
  'engines',
  'os',
  'cpu',
]

/**
 * Writes the lock file that npm takes for who installs the program: the versions of ours, which are tested and in the bill
 * of materials.
 */
export function writeShrinkwrap(root: string): void {
  const needed = neededPackages(root)
  const ours = needed.filter(({ isOurs }) => isOurs)
  const packages: Record<string, object> = {}
  for (const one of needed) {
    const place = placeOf(one, ours)
    if (packages[place]) throw new Error(`two packages want the place ${place}`)
    const known = Object.entries(one.entry).filter(([name]) => fields.includes(name))
    packages[place] = { ...(place === '' && { name: one.name }), ...Object.fromEntries(known) }
  }
  const program = ours.find(({ place }) => place === programPlace)
  const { name, version } = program ?? {}
  const lock = { name, version, lockfileVersion: 3, requires: true, packages: sorted(packages) }
  const file = join(root, programPlace, fileName)
  // Several tests may pack at a time.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(lock, undefined, 2)}\n`)
  renameSync(draft, file)
}

/** The place below the program, which is the root there. */
function placeOf({ place, name, isOurs }: LockedPackage, ours: readonly LockedPackage[]): string {
  if (place === programPlace) return ''
  if (isOurs) return `node_modules/${name}`
  const owner = ours.find((one) => place.startsWith(`${one.place}/`))
  if (!owner) return place
  const own = owner.place === programPlace ? '' : `node_modules/${owner.name}/`
  return place.replace(`${owner.place}/`, own)
}

function sorted(packages: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(packages).sort(([one], [other]) => (one < other ? -1 : 1)),
  )
}
