import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Locked {
  readonly name?: string
  readonly version?: string
  readonly link?: boolean
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** The entry of the lock file at one place: `node_modules/pino`, or `packages/redis-store` for one of ours. */
export interface LockedPackage {
  readonly place: string
  readonly name: string
  readonly version: string
  readonly isOurs: boolean
  /** As the lock file has it. */
  readonly entry: object
}

/** The program that is shipped. */
export const programPlace = 'apps/gateway'

type Lock = Readonly<Record<string, Locked | undefined>>

/** The place in the lock file of a package that another one asks for, as Node looks for it. */
function find(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.replace(/\/?[^/]*$/, '')) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    const found = lock[path]
    if (found) return found.link ? (found.resolved ?? path) : path
    if (folder === '') return undefined
  }
}

/** The program and all packages that it needs to run, by the lock file alone. */
export function neededPackages(root: string): readonly LockedPackage[] {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const lock = (JSON.parse(text) as { packages: Lock }).packages
  const places = new Set([programPlace])
  for (const place of places) {
    const { dependencies, optionalDependencies } = lock[place] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = find(lock, place, name)
      if (found !== undefined) places.add(found)
    }
  }
  return [...places].map((place) => {
    const entry = lock[place] ?? {}
    const { name = place.replace(/^.*node_modules\//, ''), version = '' } = entry
    return { place, name, version, isOurs: !place.includes('node_modules/'), entry }
  })
}
