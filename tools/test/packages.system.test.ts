import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, inject, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly files?: readonly string[]
  readonly description?: string
  readonly sideEffects?: boolean | readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly imports?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const packages = ['packages', 'apps']
  .flatMap((place) => readdirSync(join(root, place)).map((name) => join(root, place, name)))
  .map((folder) => ({ folder, manifest: manifestIn(folder) }))
  .filter(({ manifest }) => manifest.private !== true)
  .map(({ folder, manifest }) => ({ name: manifest.name, folder, manifest }))

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** The files that npm would publish of each package, by its name. */
let packed: ReadonlyMap<string, readonly string[]>

/** Names that a program that installs the package, or the package itself, may use. */
function promised({ bin = {}, exports = {}, imports = {} }: Manifest): string[] {
  const named = [...Object.values(exports), ...Object.values(imports)].flatMap((entry) =>
    typeof entry === 'string' ? [entry] : [entry['types'] ?? entry['default'], entry['default']],
  )
  return [...Object.values(bin), ...named].flatMap((path) => path?.replace(/^\.\//, '') ?? [])
}

beforeAll(() => {
  const { packs } = inject('packed')
  packed = new Map(packs.map(({ name, files }) => [name, files.map(({ path }) => path)]))
})

describe.each(packages)('the package $name', ({ name, folder, manifest }) => {
  let files: readonly string[]
  beforeAll(() => {
    files = packed.get(name) ?? []
  })

  test('names only existing files', () => {
    const own = manifest.files?.filter((name) => !name.startsWith('!')) ?? []
    expect(own.length).toBeGreaterThan(0)
    expect(own.filter((name) => !existsSync(join(folder, name)))).toEqual([])
  })

  test('contains its documented files, and no sources, tests or compiler settings', () => {
    expect(files).toEqual(expect.arrayContaining(promised(manifest)))
    expect(files.filter((path) => /^(src|test)\/|tsconfig|\.tsbuildinfo$/.test(path))).toEqual([])
  })

  test('has a description, a license and sideEffects', () => {
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE']))
    const license = readFileSync(join(root, 'LICENSE'), 'utf8')
    expect(readFileSync(join(folder, 'LICENSE'), 'utf8')).toBe(license)
    expect(manifest.description).toMatch(/\w{3}/)
    expect(manifest.sideEffects).toBeDefined()
    expect(manifest.exports).toBeDefined()
    const [, title] = /^# (.+)$/m.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? []
    expect(title).toBe(manifest.name)
  })
})

test("the gateway contains its dashboard, without the compiler's files", () => {
  const own = packed.get('@crossgear/gateway') ?? []
  const files = own.filter((path) => path.startsWith('dashboard/'))
  expect(files).toEqual(expect.arrayContaining(['dashboard/index.html', 'dashboard/app.js']))
  expect(files.filter((path) => !/\.(html|js|css|svg)$/.test(path))).toEqual([])
})

test('packages are found', () => {
  expect(packages.length).toBeGreaterThan(4)
})
