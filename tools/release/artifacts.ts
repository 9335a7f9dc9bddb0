import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildDebianPackage } from './debian/package.ts'
import { packsOf, stageProgram, type Pack } from './program.ts'
import { writeSbom } from './sbom.ts'
import { setTimes, sourceDate } from './source-date.ts'

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

/** The chart as `helm package` makes it, with the same bytes each time. */
function packChart({ root, into }: ArtifactOptions): void {
  inFolder((folder) => {
    const chart = join(folder, 'crossgear')
    cpSync(join(root, 'deploy/helm/crossgear'), chart, { recursive: true })
    const [, version = ''] =
      /^version: (.*)$/m.exec(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) ?? []
    setTimes(folder, sourceDate(root))
    const plain = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
    const archive = execFileSync('tar', [...plain, '-c', '-C', folder, 'crossgear'])
    const packed = execFileSync('gzip', ['-9n'], { input: archive })
    writeFileSync(join(into, `crossgear-${version}.tgz`), packed)
  })
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
  writeSbom(options.root, join(options.into, 'crossgear.cdx.json'))
  writeSums(options)
  return readdirSync(options.into).sort()
}
