import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { onTestFinished } from 'vitest'

interface Manifest {
  readonly name: string
  readonly version: string
}

const tar = (file: string, ...words: string[]): string =>
  execFileSync('tar', [...words, file], { encoding: 'utf8' })

/** A registry's document of a package: the manifest, its tarball, and if that has a lock file of its own. */
function packumentOf(file: string, url: string): Manifest & { readonly document: object } {
  const words = ['-xzO', '--occurrence=1', 'package/package.json', '-f']
  const manifest = JSON.parse(tar(file, ...words)) as Manifest
  const { name, version } = manifest
  const digest = createHash('sha512').update(readFileSync(file)).digest('base64')
  const published = {
    ...manifest,
    _hasShrinkwrap: tar(file, '-tzf').split('\n').includes('package/npm-shrinkwrap.json'),
    dist: { tarball: `${url}/${basename(file)}`, integrity: `sha512-${digest}` },
  }
  const document = { name, 'dist-tags': { latest: version }, versions: { [version]: published } }
  return { name, version, document }
}

/** A registry with the tarballs of a folder, until the test ends. Returns its URL. */
export async function serveTarballs(folder: string): Promise<string> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    const answer = answers.get(path)
    response.writeHead(answer === undefined ? 404 : 200).end(answer)
  })
  const answers = new Map<string, string | Buffer>()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    const packument = packumentOf(file, url)
    answers.set(`/${packument.name}`, JSON.stringify(packument.document))
    answers.set(`/${name}`, readFileSync(file))
  }
  return url
}
