import { readdirSync, readFileSync } from 'node:fs'

const include = /^( *)--#include (\w+)\n/gm

/** A script with all that it needs. */
export interface LinkedScript {
  /** The pieces of the libraries that it needs. */
  readonly libraries: readonly string[]
  /** The text of its own file. */
  readonly own: string
}

/** Scripts by their names, which are those of their files. */
export type LinkedScripts = Readonly<Record<string, LinkedScript>>

/**
 * Links all scripts of the folder `lua/`: a step of the build, and of tests that run from source. Scripts and the
 * libraries in `lua/lib/` are known by the names of their files, in whatever folder these are.
 */
export function linkScripts(folder: URL): LinkedScripts {
  const libraries = textsIn(new URL('lib/', folder))
  const scripts = textsIn(folder, 'lib')
  return Object.fromEntries([...scripts].map(([name, lua]) => [name, linked(lua, libraries)]))
}

/** Lua files of a folder and those in it by their names, without the folder `except`. */
function textsIn(folder: URL, except?: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const [, name] = /^(.*)\.lua$/.exec(entry.name) ?? []
    if (name !== undefined) texts.set(name, readFileSync(new URL(entry.name, folder), 'utf8'))
    if (!entry.isDirectory() || entry.name === except) continue
    for (const [within, lua] of textsIn(new URL(`${entry.name}/`, folder))) texts.set(within, lua)
  }
  return texts
}

/**
 * A script, after what it needs of the libraries that it and they name in `--#include` lines, without comments. The
 * server makes each function anew in every call: one that nothing uses would cost in all of them. What is named inside
 * a function is made when that is called, for what is seldom needed.
 */
function linked(script: string, libraries: ReadonlyMap<string, string>): LinkedScript {
  const pieces: string[] = []
  const included = new Set<string>()
  const read = (lua: string): string[] => {
    for (const [, , part = ''] of lua.matchAll(include)) {
      if (included.has(part)) continue
      included.add(part)
      const library = libraries.get(part)
      if (library === undefined) throw new Error(`no library ${part}`)
      pieces.push(...read(library))
    }
    return piecesOf(lua)
  }
  const own = read(script)
  const always = own.filter((piece) => !isLate(piece))
  const needed = neededBy(always.join(''), pieces)
  const late = pieces.filter((piece) => !needed.includes(piece))
  const fill = (piece: string): string => filled(piece, late)
  return { libraries: needed.map(fill), own: own.map(fill).join('') }
}

/** The definitions of a file and what stands between them, one after the other, without comments. */
function piecesOf(lua: string): string[] {
  return lua
    .replace(/^--#include \w+\n/gm, '')
    .replace(/^ *--(?!#include).*\n/gm, '')
    .replace(/^\n+/gm, '')
    .split(/(?<=^end\n)|^(?=local )/m)
}

/** A function that names what it needs itself. */
function isLate(piece: string): boolean {
  return piece.search(include) >= 0
}

/** The pieces that a text needs, and those that these need. */
function neededBy(text: string, pieces: readonly string[]): string[] {
  const needed: string[] = []
  for (const piece of pieces.toReversed()) {
    if (!namesOf(piece).some((word) => new RegExp(`\\b${word}\\b`).test(text))) continue
    needed.unshift(piece)
    if (!isLate(piece)) text += piece
  }
  return needed
}

/** Defined names: `local function name`, `local name, name = ...` or `name = ...`. */
function namesOf(piece: string): string[] {
  const names = /^(?:local (?:function )?)?(\w+(?:, \w+)*)/.exec(piece)?.[1]
  return names?.split(', ') ?? []
}

/** A piece with what it makes when it is called. */
function filled(piece: string, late: readonly string[]): string {
  if (!isLate(piece)) return piece
  const within = neededBy(piece, late).filter((other) => other !== piece)
  const rest = late.filter((other) => !within.includes(other))
  const made = within.map((other) => filled(other, rest)).join('')
  return piece.replace(include, '').replace(/^.*\n/, (head) => head + made)
}
