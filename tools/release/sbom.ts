import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { neededPackages, programPlace } from './lock-file.ts'
import { sourceDate } from './source-date.ts'

interface Component {
  readonly 'bom-ref': string
}

interface Sbom {
  readonly metadata: object
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/**
 * Writes what the gateway is made of as CycloneDX, from the lock file alone, and returns how many packages these are.
 * `npm sbom --omit dev` leaves out what is a development dependency of another workspace as well (ioredis),
 * so it lists all, and what the gateway does not need is taken out here. `date`: of the sources, instead of npm's clock.
 */
export function writeSbom(root: string, file: string, date: Date): number {
  const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx']
  const output = execFileSync('npm', words, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 256 * 1024 * 1024,
  })
  const all = JSON.parse(output) as Sbom
  const needed = neededPackages(root)
  const refOf = ({ name, version }: (typeof needed)[number]) => `${name}@${version}`
  const refs = new Set(needed.map(refOf))
  const components = all.components.filter((component) => refs.has(component['bom-ref']))
  const missing = [...refs].filter((ref) => !components.some((one) => one['bom-ref'] === ref))
  if (missing.length > 0) throw new Error(`npm sbom does not list ${missing.join(', ')}`)
  const program = needed.find(({ place }) => place === programPlace)
  const main = components.find((one) => program && one['bom-ref'] === refOf(program))
  const sbom = {
    ...all,
    serialNumber: undefined,
    metadata: {
      ...all.metadata,
      timestamp: date.toISOString(),
      component: { ...main, type: 'application' },
    },
    components: components.filter((component) => component !== main),
    dependencies: all.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({
        ref,
        dependsOn: dependsOn.filter((other) => refs.has(other)),
      })),
  }
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(sbom))}`
  writeFileSync(file, `${JSON.stringify({ ...sbom, serialNumber }, undefined, 2)}\n`)
  return sbom.components.length
}

/** A UUID of version 8 (RFC 9562) that stays the same for the same text. */
function uuidOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex')
  const form = /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/
  return digits.replace(form, '$1-$2-8$3-8$4-$5')
}

/** `npm run sbom -- [file]` */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file = 'crossgear.cdx.json'] = process.argv.slice(2)
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const count = writeSbom(root, file, sourceDate(root))
  process.stdout.write(`${file}: ${count} components\n`)
}
