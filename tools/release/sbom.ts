import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { neededPackages, programPlace } from './lock-file.ts'

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
 * so it lists all, and what the gateway does not need is taken out here.
 */
export function writeSbom(root: string, file: string): number {
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
  return sbom.components.length
}

/** `npm run sbom -- [file]` */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file = 'crossgear.cdx.json'] = process.argv.slice(2)
  const count = writeSbom(fileURLToPath(new URL('../..', import.meta.url)), file)
  process.stdout.write(`${file}: ${count} components\n`)
}
