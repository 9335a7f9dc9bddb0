import { posix } from 'node:path'

/** `import { a, b as c } from './x.js'` or `import d from './x.js'`. */
const importLine = /^import (?:\{([^}]*)\}|(\w+)) from '(\.[^']+)'$/gm
const exportLine = /^export (?=(?:async )?(?:function|const|class) (\w+))/gm
const otherLine = /^(?:import|export)\b.*/m

export interface Modules {
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
