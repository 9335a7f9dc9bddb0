import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflateRawSync } from 'node:zlib'
import type { Lacking } from './lacks.ts'

/** An npm package that brings Helm for Linux on x64, in an archive. */
const carrier = '@aws-cdk/asset-kubectl-v20'
const cache = fileURLToPath(new URL('../../node_modules/.cache/crossgear', import.meta.url))

/** True where there is no Helm to test with. */
export const lacksHelm: Lacking =
  (process.platform !== 'linux' || process.arch !== 'x64') && 'Linux on x64'

const centralHeader = 0x02014b50

/** One file of a zip archive. */
function unzip(archive: Buffer, name: string): Buffer {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  let at = archive.readUInt32LE(end + 16)
  while (archive.readUInt32LE(at) === centralHeader) {
    const nameBytes = archive.readUInt16LE(at + 28)
    const nextAt =
      at + 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
    if (archive.toString('utf8', at + 46, at + 46 + nameBytes) === name) {
      const packedBytes = archive.readUInt32LE(at + 20)
      const local = archive.readUInt32LE(at + 42)
      const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
      return inflateRawSync(archive.subarray(start, start + packedBytes))
    }
    at = nextAt
  }
  throw new Error(`the archive has no ${name}`)
}

/** The program, unpacked once. */
function program(): string {
  const manifest = createRequire(import.meta.url).resolve(`${carrier}/package.json`)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  const file = join(cache, `helm-${version}`)
  if (existsSync(file)) return file
  mkdirSync(cache, { recursive: true })
  const archive = readFileSync(join(dirname(manifest), 'lib/layer.zip'))
  const partial = `${file}.${process.pid}`
  writeFileSync(partial, unzip(archive, 'helm/helm'))
  chmodSync(partial, 0o755)
  renameSync(partial, file)
  return file
}

/**
 * Runs the real Helm and returns what it prints.
 *
 * @throws Error with what else it printed
 */
export function helm(...words: string[]): string {
  return execFileSync(program(), words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
