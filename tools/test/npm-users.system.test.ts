import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, onTestFinished, test } from 'vitest'
import { writeSbom } from '../release/sbom.ts'
import { serveTarballs } from './support/npm-registry.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const runFile = promisify(execFile)

interface Sbom {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } }
  readonly components: readonly { readonly 'bom-ref': string }[]
}

interface Installed {
  readonly packages: Readonly<Record<string, { readonly name?: string; readonly version: string }>>
}

test("npm users get the packages of the bill of materials, on any Node that 'engines' allows", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-npm-user-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const url = await serveTarballs(inject('packed').folder)
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  writeFileSync(join(folder, '.npmrc'), `@crossgear:registry=${url}\nengine-strict=true\n`)
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error']
  await runFile('npm', ['install', '--prefer-offline', ...quiet, '@crossgear/gateway'], {
    cwd: folder,
  })
  const lock = readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')
  const installed = Object.entries((JSON.parse(lock) as Installed).packages).map(
    ([place, { name = place.replace(/^.*node_modules\//, ''), version }]) => `${name}@${version}`,
  )
  const file = join(folder, 'sbom.json')
  writeSbom(root, file, new Date(0))
  const { metadata, components } = JSON.parse(readFileSync(file, 'utf8')) as Sbom
  const listed = [metadata.component, ...components].map((component) => component['bom-ref'])
  expect([...new Set(installed)].sort()).toEqual([...new Set(listed)].sort())
}, 180_000)
