import { readdirSync, readFileSync } from 'node:fs'
import { jobEnds } from '@crossgear/core-scheduler'

const include = /^( *)--#include (\w+)\n/gm
/** A number with a name, in a library. It stands in the place of the name: a function has room for 200 names. */
const constant = /^local (\w+) = (\d[\d.e]*)\n/gm
/** A builder of a key that differs from others by its kind alone. */
const keyBuilder = /^local function (\w+Key)\((\w+)\) return laneKey\(('[\w:-]+'), \2\) end\n/gm

/** A script with everything it needs. */
export interface LinkedScript {
  /** The library pieces that it needs. */
  readonly libraries: readonly string[]
  /** The text of its own file. */
  readonly own: string
}

/** Scripts by their file names. */
export type LinkedScripts = Readonly<Record<string, LinkedScript>>

/**
 * Links all scripts of the folder `lua/`, in the build and in tests that run from source. Scripts
 * and libraries in `lua/lib/` are known by file name, whatever their folder.
 */
export function linkScripts(folder: URL): LinkedScripts {
  const constants = new Map(Object.entries(jobEnds).map(([name, value]) => [name, String(value)]))
  const take = (name: string, value: string): string => {
    constants.set(name, value)
    return ''
  }
  const libraries = mapped(textsIn(new URL('lib/', folder)), (lua) =>
    lua
      .replace(constant, (_line, name: string, value: string) => take(name, value))
      .replace(keyBuilder, (_line, name: string, _lane, kind: string) =>
        take(`${name}(`, `laneKey(${kind}, `),
      ),
  )
  const names = /(?<![.\w])\w+(?:(?<=Key)\()?/g
  const fill = (lua: string): string => lua.replace(names, (name) => constants.get(name) ?? name)
  const filledIn = mapped(libraries, fill)
  const scripts = mapped(textsIn(folder, 'lib'), fill)
  return Object.fromEntries([...scripts].map(([name, lua]) => [name, linked(lua, filledIn)]))
}

function mapped(
  texts: ReadonlyMap<string, string>,
  change: (lua: string) => string,
): ReadonlyMap<string, string> {
  return new Map([...texts].map(([name, lua]) => [name, change(lua)]))
}

/** Lua files of a folder and its subfolders by name, without the folder `except`. */
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
 * A script after the pieces that it needs of its `--#include` libraries, without comments: the server makes every function
 * anew in each call. An include inside a function is made when that is called, for rare needs.
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

/** The definitions of a file and the code between them, in order, without comments. */
function piecesOf(lua: string): string[] {
  return lua
    .replace(/^--#include \w+\n/gm, '')
    .replace(/^ *--(?!#include).*\n/gm, '')
    .replace(/^\n+/gm, '')
    .split(/(?<=^end\n)|^(?=local |\w+\.\w+ = function)/m)
}

/** True for a function with includes of its own. */
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

/** A piece with the pieces that it makes when called. */
function filled(piece: string, late: readonly string[]): string {
  if (!isLate(piece)) return piece
  const within = neededBy(piece, late).filter((other) => other !== piece)
  const rest = late.filter((other) => !within.includes(other))
  const made = within.map((other) => filled(other, rest)).join('')
  return piece.replace(include, '').replace(/^.*\n/, (head) => head + made)
}
