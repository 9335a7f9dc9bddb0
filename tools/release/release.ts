// Makes a release: `npm run release -- --help`.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildGateway } from '../testing/gateway-program.ts'
import { makeArtifacts } from './artifacts.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = join(root, 'CHANGELOG.md')
const chart = join(root, 'deploy/helm/crossgear/Chart.yaml')
const heading = '# Changes\n'

const usage = `Usage: npm run release -- [version] [--dry-run] [--files folder]

  version     gives all packages and the chart this version, and CHANGELOG.md the subjects of the commits since the
              last one; in a dry run the next patch, if none is given
  --files     makes the files of the version that the sources have, in a folder: tarballs, Debian package, chart,
              SBOM and SHA256SUMS
  --dry-run   says what it would write, and changes nothing; makes the files, packed less well, in the folder of --files,
              or in one that is gone afterwards
`

function git(words: readonly string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
}

function changesFor(version: string): string {
  const tags = git(['tag', '--list', 'v*', '--sort=-v:refname', '--merged']).split('\n')
  const range = tags[0] ? [`${tags[0]}..HEAD`] : []
  const subjects = git(['log', '--no-merges', '--format=- %s', ...range])
  return `## ${version} (${git(['log', '-1', '--format=%cs'])})\n\n${subjects}\n`
}

function nextPatch(): string {
  const text = readFileSync(join(root, 'apps/gateway/package.json'), 'utf8')
  const [major = 0, minor = 0, patch = 0] = (JSON.parse(text) as { version: string }).version
    .split(/[.-]/)
    .map(Number)
  return `${major}.${minor}.${patch + 1}`
}

/** All packages have one version; the chart has it too. */
function setVersions(version: string, isDry: boolean): void {
  const words = ['release', 'version', version, ...(isDry ? ['--dry-run'] : [])]
  execFileSync(join(root, 'node_modules/.bin/nx'), words, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, NX_DAEMON: 'false' },
  })
  const text = readFileSync(chart, 'utf8')
  const changed = text
    .replace(/^version: .*$/m, `version: ${version}`)
    .replace(/^appVersion: .*$/m, `appVersion: "${version}"`)
  if (isDry) console.log(`deploy/helm/crossgear/Chart.yaml:\n\n${changed}`)
  else writeFileSync(chart, changed)
}

function writeChanges(changes: string, isDry: boolean): void {
  if (isDry) {
    console.log(`CHANGELOG.md:\n\n${changes}`)
    return
  }
  const before = existsSync(page) ? readFileSync(page, 'utf8').replace(heading, '') : ''
  writeFileSync(page, `${heading}\n${changes}${before}`)
}

/** In a dry run nobody publishes the files, so that they are packed less well. */
function makeFiles(into: string, isDry: boolean): void {
  buildGateway()
  const compression = isDry ? { compression: ['-Zgzip', '-z1'] } : {}
  for (const name of makeArtifacts({ root, into, ...compression })) {
    console.log(`${name}: ${statSync(join(into, name)).size} bytes`)
  }
}

function main(): number {
  const options = {
    'dry-run': { type: 'boolean' },
    files: { type: 'string' },
    help: { type: 'boolean' },
  } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const isDry = values['dry-run'] === true
  if (values.help === true) {
    console.log(usage)
    return 0
  }
  const version = positionals[0] ?? (isDry ? nextPatch() : undefined)
  if (version !== undefined && !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
    console.error('Name the version: npm run release -- 1.2.3 [--dry-run]')
    return 2
  }
  if (version === undefined && values.files === undefined) {
    console.error(usage)
    return 2
  }
  if (version !== undefined) {
    setVersions(version, isDry)
    writeChanges(changesFor(version), isDry)
  }
  const isKept = values.files !== undefined
  const temporary = isDry && !isKept ? mkdtempSync(join(tmpdir(), 'crossgear-files-')) : undefined
  const into = values.files ?? temporary
  if (into !== undefined) makeFiles(into, isDry)
  if (temporary !== undefined) rmSync(temporary, { recursive: true })
  return 0
}

process.exitCode = main()
