import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { writeSbom } from '../release/sbom.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const workflows = join(root, '.github/workflows')

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>
}

interface Sbom {
  readonly bomFormat: string
  readonly serialNumber: string
  readonly metadata: {
    readonly timestamp: string
    readonly component: { readonly 'bom-ref': string }
  }
  readonly components: readonly { readonly 'bom-ref': string; readonly name: string }[]
}

const manifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest

test('the bill of materials has all dependencies of the gateway, and no build tools', () => {
  const folder = mkdtempSync(join(tmpdir(), 'xg-sbom-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'sbom.json')
  expect(writeSbom(root, file, new Date(0))).toBeGreaterThan(8)
  const { bomFormat, metadata, components, serialNumber } = JSON.parse(
    readFileSync(file, 'utf8'),
  ) as Sbom
  expect(metadata.timestamp).toBe('1970-01-01T00:00:00.000Z')
  expect(serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  expect([bomFormat, metadata.component['bom-ref'].split('@')[1]]).toEqual([
    'CycloneDX',
    'crossgear/gateway',
  ])
  const listed = components.map((component) => component['bom-ref'])
  const folders = [
    'apps/gateway',
    ...readdirSync(join(root, 'packages')).map((one) => `packages/${one}`),
  ]
  const wanted = folders.flatMap((one) => Object.entries(manifest(one).dependencies ?? {}))
  expect(wanted.length).toBeGreaterThan(8)
  expect(listed).toEqual(
    expect.arrayContaining(wanted.map(([name, version]) => `${name}@${version}`)),
  )
  const tools = Object.keys(manifest('.').devDependencies ?? {}).filter(
    (name) => !name.startsWith('@crossgear/'),
  )
  expect(tools.filter((tool) => listed.some((ref) => ref.startsWith(`${tool}@`)))).toEqual([])
})

test('there is one version of the client of Redis, also below the peers of tests', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as object
  const { packages } = lock as { packages: object }
  const places = Object.keys(packages).filter((place) => /(^|\/)node_modules\/ioredis$/.test(place))
  expect(places).toEqual(['node_modules/ioredis'])
})

test('actions of the workflows are pinned by digest, with the version in a comment', () => {
  const files = readdirSync(workflows)
  const used = files.flatMap(
    (name) => readFileSync(join(workflows, name), 'utf8').match(/^.*\buses:.*$/gm) ?? [],
  )
  expect(used.length).toBeGreaterThan(0)
  expect(
    used.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)),
  ).toEqual([])
})

test.each(readdirSync(workflows))('GitHub’s own parser has no complaint about %s', (name) => {
  const content = readFileSync(join(workflows, name), 'utf8')
  const { context } = parseWorkflow({ name, content }, new NoOperationTraceWriter())
  expect(context.errors.getErrors()).toEqual([])
})

test('every step of the workflows is valid for the shell', () => {
  const steps = readdirSync(workflows).flatMap((name) => {
    const { jobs } = parse(readFileSync(join(workflows, name), 'utf8')) as Workflow
    return Object.values(jobs).flatMap((job) => job.steps.flatMap(({ run }) => run ?? []))
  })
  expect(steps.length).toBeGreaterThan(8)
  for (const step of steps) {
    const plain = step.replaceAll(/\$\{\{.*?\}\}/g, 'x')
    expect([step, spawnSync('bash', ['-n'], { input: plain }).status]).toEqual([step, 0])
  }
})

test("a release has all its files, with the bill of materials and npm's provenance", () => {
  const release = readFileSync(join(workflows, 'release.yml'), 'utf8')
  expect(release).toMatch(/npm run release -- --files (\S+)\n[^]*gh release create \S+ \1\/\* /)
  expect(release).toMatch(/npm publish \S+ --provenance/)
  expect(release).toContain('id-token: write')
})
