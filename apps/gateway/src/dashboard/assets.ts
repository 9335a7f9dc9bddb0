import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A file of the dashboard. */
export interface Asset {
  readonly type: string
  readonly body: Buffer
  /** Changes with the body. */
  readonly etag: string
}

/** Path of the web port below which everything but the page itself is. */
export const assetPrefix = '/ui'

const ownFolder = new URL('../../dashboard/', import.meta.url)

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

interface Library {
  /** The package's entry for `require`, beside which the file is. */
  readonly entry: string
  readonly file: string
  /** Bare names that the file imports, and their files here: a browser knows no packages. */
  readonly rewrites?: Readonly<Record<string, string>>
}

/** Files of npm packages, by their name below `/ui/lib`. */
const libraries: Readonly<Record<string, Library>> = {
  'preact.js': { entry: 'preact', file: 'preact.module.js' },
  'hooks.js': {
    entry: 'preact/hooks',
    file: 'hooks.module.js',
    rewrites: { preact: './preact.js' },
  },
  'htm.js': { entry: 'htm', file: 'htm.module.js' },
  'uplot.js': { entry: 'uplot', file: 'uPlot.esm.js' },
  'uplot.css': { entry: 'uplot', file: 'uPlot.min.css' },
}

/** All files of the dashboard, by path: read once, kept in memory. */
export function readAssets(): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>()
  for (const path of ownFiles()) {
    const served = path === 'index.html' ? '/' : `${assetPrefix}/${path}`
    assets.set(served, assetOf(path, readFileSync(new URL(path, ownFolder))))
  }
  const { resolve } = createRequire(import.meta.url)
  for (const [name, { entry, file, rewrites = {} }] of Object.entries(libraries)) {
    const text = readFileSync(new URL(file, pathToFileURL(resolve(entry))), 'utf8')
    const body = withoutMap(withRelativeImports(text, rewrites))
    assets.set(`${assetPrefix}/lib/${name}`, assetOf(name, Buffer.from(body)))
  }
  return assets
}

/** Replaces bare names of imports. Throws an Error where one is not there: the package has changed. */
export function withRelativeImports(
  module: string,
  rewrites: Readonly<Record<string, string>>,
): string {
  let text = module
  for (const [name, path] of Object.entries(rewrites)) {
    const parts = text.split(new RegExp(`\\bfrom\\s*["']${name}["']`))
    if (parts.length === 1) throw new Error(`the module does not import ${name}`)
    text = parts.join(`from"${path}"`)
  }
  return text
}

/** Source maps are not served: a browser with its tools open would ask for them. */
function withoutMap(text: string): string {
  return text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n')
}

function ownFiles(): readonly string[] {
  const entries = readdirSync(ownFolder, { recursive: true, encoding: 'utf8' })
  return entries
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => types[extname(path)] !== undefined)
}

function assetOf(name: string, body: Buffer): Asset {
  const hash = createHash('sha256').update(body).digest('base64url')
  return { type: types[extname(name)] ?? '', body, etag: `"${hash.slice(0, 27)}"` }
}
