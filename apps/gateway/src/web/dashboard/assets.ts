import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageFolder } from '../../config/package-folder.ts'
import { waysIn } from '../../doors/names.ts'

/** A file of the dashboard. */
export interface Asset {
  readonly type: string
  readonly body: Buffer
  /** Changes with the body. */
  readonly hash: string
}

/** Path of the web port below which everything but the page itself is. */
export const assetPrefix = '/ui'

const ownFolder = new URL('dashboard/', packageFolder)

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

interface Library {
  /** The package's entry for `require`, next to which the file is. */
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
}

const libraryStyle = { entry: 'uplot', file: 'uPlot.min.css' } as const satisfies Library

/** Style sheets in the order in which they override each other. */
export const styleNames = 'base layout parts tables forms job layers narrow'.split(' ')

/** The files that a browser gets, by path: own modules are joined to one, and so are style sheets. */
export function readAssets(): ReadonlyMap<string, Asset> {
  const app = linkModules('app.js', {
    read: moduleText,
    isOutside: (path) => path.startsWith('lib/'),
  })
  const styles = styleNames.map((name) => ownFile(`style/${name}.css`))
  const files: Record<string, string> = {
    '/': ownFile('index.html'),
    [`${assetPrefix}/icon.svg`]: ownFile('icon.svg'),
    [`${assetPrefix}/app.js`]: app,
    [`${assetPrefix}/style.css`]: [libraryFile(libraryStyle), ...styles].join('\n'),
  }
  for (const [name, library] of Object.entries(libraries)) {
    files[`${assetPrefix}/lib/${name}`] = withoutMap(
      withRelativeImports(libraryFile(library), library.rewrites ?? {}),
    )
  }
  return new Map(Object.entries(files).map(([path, text]) => [path, assetOf(path, text)]))
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

/** The table of doors is no file: it is made of the gateway's own. */
function moduleText(path: string): string {
  if (path !== 'doors.js') return ownFile(path)
  const rows = waysIn.map(({ name, title, failure }) => ({ name, title, failure }))
  return `export const doors = ${JSON.stringify(rows)}\n`
}

function ownFile(path: string): string {
  return readFileSync(new URL(path, ownFolder), 'utf8')
}

function libraryFile({ entry, file }: Library): string {
  const { resolve } = createRequire(import.meta.url)
  return readFileSync(new URL(file, pathToFileURL(resolve(entry))), 'utf8')
}

function assetOf(path: string, text: string): Asset {
  const body = Buffer.from(text)
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 27)
  return { type: types[path === '/' ? '.html' : extname(path)] ?? '', body, hash }
}

/** `import { a, b as c } from './x.js'` or `import d from './x.js'`. */
const importLine = /^import (?:\{([^}]*)\}|(\w+)) from '(\.[^']+)'$/gm
const exportLine = /^export (?=(?:async )?(?:function|const|class) (\w+))/gm
const otherLine = /^(?:import|export)\b.*/m

interface Modules {
  /** The text of a module, by its path. */
  readonly read: (path: string) => string
  /** True for a module that the joined one imports. */
  readonly isOutside: (path: string) => boolean
}

/**
 * Joins a module and all that it imports into one: each becomes a function, after those that it imports. Throws an Error for
 * a circle of imports, and for a form of import or export that it does not know.
 */
export function linkModules(entry: string, { read, isOutside }: Modules): string {
  const heads: string[] = []
  const bodies: string[] = []
  const names = new Map<string, string>()
  const open = new Set<string>()

  const nameOf = (path: string): string => {
    const known = names.get(path)
    if (known !== undefined) return known
    if (open.has(path)) throw new Error(`${path} imports itself, over others`)
    open.add(path)
    const name = `module_${path.replaceAll(/\W/g, '_')}`
    if (isOutside(path)) heads.push(`import * as ${name} from './${path}'`)
    else bodies.push(`const ${name} = (() => {\n${bodyOf(path)}})()`)
    names.set(path, name)
    return name
  }
  const bodyOf = (path: string): string => {
    const exported: string[] = []
    const body = read(path)
      .replaceAll(importLine, (_all, some?: string, whole?: string, from = '') => {
        const module = nameOf(posix.join(posix.dirname(path), String(from)))
        if (some === undefined) return `const ${whole ?? ''} = ${module}.default`
        return `const {${some.replaceAll(' as ', ': ')}} = ${module}`
      })
      .replaceAll(exportLine, (_all, name: string) => {
        exported.push(name)
        return ''
      })
    const [unknown] = otherLine.exec(body) ?? []
    if (unknown !== undefined) throw new Error(`${path} cannot be joined: ${unknown}`)
    return `${body}\nreturn { ${exported.join(', ')} }\n`
  }

  nameOf(entry)
  return `${[...heads, ...bodies].join('\n')}\n`
}
