import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { neededPackages } from './lock-file.ts'
import { writeShrinkwrap } from './shrinkwrap.ts'

export interface Pack {
  readonly name: string
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}

/** The files that npm would publish of each of our packages. With a folder, that is where npm puts the tarballs. */
export function packsOf(root: string, places: readonly string[], into?: string): readonly Pack[] {
  writeShrinkwrap(root)
  const where = into === undefined ? ['--dry-run'] : ['--pack-destination', into]
  const words = ['pack', ...where, '--json', '--ignore-scripts', ...places.map((one) => `./${one}`)]
  const said = execFileSync('npm', words, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
  return Object.values(JSON.parse(said.toString()) as Readonly<Record<string, Pack>>)
}

/** Files of packages that no program reads. */
const unread =
  /\.(d\.[cm]?ts|map|tsbuildinfo|flow|sh)$|^npm-shrinkwrap\.json$|^(tests?|docs|docsify|examples?|benchmarks?)$|^\.|^eslint\.config\./

function copyForeign(from: string, into: string): void {
  cpSync(from, into, {
    recursive: true,
    dereference: true,
    // Packages below have places of their own in the lock file.
    filter: (path) =>
      path === from || !(basename(path) === 'node_modules' || unread.test(basename(path))),
  })
}

/**
 * Puts the built program and all that it needs to run into a folder: `node_modules/@crossgear/gateway` and beside
 * it the versions of the lock file, as `npm ci` has installed them. `packs` saves packing once more.
 */
export function stageProgram(root: string, into: string, packs?: readonly Pack[]): void {
  const needed = neededPackages(root)
  const ours = needed.filter(({ isOurs }) => isOurs)
  const places = ours.map(({ place }) => place)
  const published = packs ?? packsOf(root, places)
  for (const { name, place } of ours) {
    const pack = published.find((one) => one.name === name)
    if (!pack) throw new Error(`npm packs no ${name}`)
    for (const { path, mode } of pack.files) {
      if (unread.test(basename(path))) continue
      const target = join(into, 'node_modules', name, path)
      mkdirSync(dirname(target), { recursive: true })
      copyFileSync(join(root, place, path), target)
      chmodSync(target, mode)
    }
  }
  for (const { place, isOurs } of needed) {
    // A package for other systems is in the lock file and not on the disk.
    if (isOurs || !existsSync(join(root, place))) continue
    const owner = ours.find((one) => place.startsWith(`${one.place}/`))
    const target = owner ? place.replace(owner.place, `node_modules/${owner.name}`) : place
    copyForeign(join(root, place), join(into, target))
  }
  const native = readdirSync(into, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.node'),
  )
  if (native.length > 0) throw new Error(`not for every machine: ${native.join(', ')}`)
}

/** `tsx tools/release/program.ts FOLDER` */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [into] = process.argv.slice(2)
  if (into === undefined) throw new Error('name the folder that the program goes into')
  stageProgram(fileURLToPath(new URL('../..', import.meta.url)), into)
}
