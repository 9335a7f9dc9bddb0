// `npm run sbom -- [file]`: writes what the gateway is made of as CycloneDX, from the lock file alone.
// `npm sbom --omit dev` leaves out what is a development dependency of another workspace as well (ioredis),
// so it lists all, and what the gateway does not need is taken out here.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {{ name?: string, version?: string, link?: boolean, resolved?: string,
 *   dependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Locked
 * @typedef {{ 'bom-ref': string, name: string, version: string }} Component
 * @typedef {{ metadata: { component: Component }, components: Component[],
 *   dependencies: { ref: string, dependsOn: string[] }[] }} Sbom
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = 'apps/gateway'
const [file = 'crossgear.cdx.json'] = process.argv.slice(2)

/** @type {Record<string, Locked>} */
const locked = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')).packages

/**
 * Where the lock file has a package that another one asks for, as Node looks for it.
 * @param {string} from
 * @param {string} name
 */
function find(from, name) {
  for (let folder = from; ; folder = folder.replace(/\/?[^/]*$/, '')) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    const found = locked[path]
    if (found) return found.link ? (found.resolved ?? path) : path
    if (folder === '') return undefined
  }
}

/** Packages that the program needs to run, by their place in the lock file. */
function needed() {
  const places = new Set([program])
  for (const place of places) {
    const { dependencies, optionalDependencies } = locked[place] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = find(place, name)
      if (found !== undefined) places.add(found)
    }
  }
  return places
}

/** @param {string} place */
function refOf(place) {
  const { name = place.replace(/^.*node_modules\//, ''), version } = locked[place] ?? {}
  return `${name}@${version}`
}

const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx']
const output = execFileSync('npm', words, {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
  maxBuffer: 256 * 1024 * 1024,
})
/** @type {Sbom} */
const all = JSON.parse(output)
const refs = new Set([...needed()].map(refOf))
const components = all.components.filter((component) => refs.has(component['bom-ref']))
const missing = [...refs].filter((ref) => !components.some((one) => one['bom-ref'] === ref))
if (missing.length > 0) throw new Error(`npm sbom does not list ${missing.join(', ')}`)
const main = components.find((component) => component['bom-ref'] === refOf(program))
const sbom = {
  ...all,
  metadata: { ...all.metadata, component: { ...main, type: 'application' } },
  components: components.filter((component) => component !== main),
  dependencies: all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({
      ref,
      dependsOn: dependsOn.filter((other) => refs.has(other)),
    })),
}
writeFileSync(file, `${JSON.stringify(sbom, undefined, 2)}\n`)
process.stdout.write(`${file}: ${sbom.components.length} components\n`)
