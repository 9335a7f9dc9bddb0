import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildDebianPackage } from './debian/package.ts'
import { packsOf, stageProgram, type Pack } from './program.ts'
import { writeSbom } from './sbom.ts'
import { sourceDate } from './source-date.ts'

export interface ArtifactOptions {
  readonly root: string
  readonly into: string
  /** Words for dpkg-deb. */
  readonly compression?: readonly string[]
}

/** Runs with a folder that is gone afterwards. */
function inFolder(run: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-release-'))
  try {
    run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Tarballs of all packages that npm publishes. */
function packTarballs({ root, into }: ArtifactOptions): readonly Pack[] {
  const places = ['packages', 'apps']
    .flatMap((place) => readdirSync(join(root, place)).map((name) => `${place}/${name}`))
    .filter((one) => !readFileSync(join(root, one, 'package.json'), 'utf8').includes('"private"'))
  return packsOf(root, places, into)
}

function packDebian({ root, into, compression }: ArtifactOptions, packs: readonly Pack[]): void {
  inFolder((program) => {
    stageProgram(root, program, packs)
    const date = sourceDate(root)
    buildDebianPackage({ root, program, into, date, ...(compression && { compression }) })
  })
}

/** The chart as `helm package` makes it, with the same bytes each time. Its links to files of `deploy` become files. */
function packChart({ root, into }: ArtifactOptions): void {
  const charts = join(root, 'deploy/helm')
  const manifest = readFileSync(join(charts, 'crossgear/Chart.yaml'), 'utf8')
  const [, version = ''] = /^version: (.*)$/m.exec(manifest) ?? []
  const plain = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
  const time = `--mtime=${sourceDate(root).toISOString()}`
  const words = [...plain, time, '--dereference', '-c', '-C', charts, 'crossgear']
  const packed = execFileSync('gzip', ['-9n'], { input: execFileSync('tar', words) })
  writeFileSync(join(into, `crossgear-${version}.tgz`), packed)
}

function writeSums({ into }: ArtifactOptions): void {
  const sums = readdirSync(into)
    .sort()
    .map((name) => {
      const digest = createHash('sha256')
        .update(readFileSync(join(into, name)))
        .digest('hex')
      return `${digest}  ${name}\n`
    })
  writeFileSync(join(into, 'SHA256SUMS'), sums.join(''))
}

/** Makes all files of a release from the built sources: tarballs, Debian package, chart, SBOM and checksums. */
export function makeArtifacts(options: ArtifactOptions): readonly string[] {
  mkdirSync(options.into, { recursive: true })
  packDebian(options, packTarballs(options))
  packChart(options)
  writeSbom(options.root, join(options.into, 'crossgear.cdx.json'), sourceDate(options.root))
  writeSums(options)
  return readdirSync(options.into).sort()
}
