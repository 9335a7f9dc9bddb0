import { luaFiles } from '#lua-files'
import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { jobEnds } from '@crossgear/core-scheduler'
import type { LuaFiles } from './lua-files.ts'
import type { ScriptName } from './script-name.ts'

/**
 * Functions that add jobs or names: a full server refuses them. All others free memory, or let jobs
 * end.
 */
const growing: ReadonlySet<ScriptName> = new Set([
  'step',
  'add-history',
  'keep-records',
  'note-piece',
  'replace',
  'import',
  'batch-new',
  'batch-join',
  'register-lanes',
  'register-in-cluster',
])

/** Steps without submissions also run on a full server: one file, two functions. */
const twins: Readonly<Record<string, ScriptName>> = { step: 'step-free' }

/** The function library of a database: all that gateways of this version run on a server. */
export interface Library {
  /** Contains a hash of its text: gateways of other versions have libraries of their own. */
  readonly name: string
  /** For FUNCTION LOAD. */
  readonly text: string
  /** The name for FCALL. */
  readonly functionOf: (script: ScriptName) => string
}

const underscored = (name: string): string => name.replaceAll('-', '_')

/** Libraries of a database begin so. */
export const libraryPrefix = (database: number): string => `crossgear_${database}_`

/**
 * The Lua files as one text. Each file of `lua/lib/` fills a module of its name (`places.lua`: `Places`); each other file is the
 * body of a function of its name, which gets KEYS and ARGV.
 */
function joined(files: LuaFiles): string {
  const all = Object.entries(files)
  const modules = all.filter(([path]) => path.startsWith('lib/'))
  const scripts = all.filter(([path]) => !path.startsWith('lib/'))
  const bounds = Object.entries(jobEnds).map(([key, value]) => `${key} = ${value}`)
  return [
    `local JobEnds = { ${bounds.join(', ')} }`,
    ...modules.map(([path]) => `local ${moduleOf(path)} = {}`),
    ...modules.map(([, lua]) => `do\n${lua}end`),
    ...scripts.map(([path, lua]) => registered(posix.basename(path), lua)),
    '',
  ].join('\n')
}

function moduleOf(path: string): string {
  const base = posix.basename(path)
  return base.charAt(0).toUpperCase() + base.slice(1)
}

/** In a block of its own: a chunk has room for 200 local names. */
function registered(script: string, lua: string): string {
  const twin = twins[script]
  const names = [script, ...(twin === undefined ? [] : [twin])]
  return [
    'do',
    'local function run(KEYS, ARGV)',
    'Call.begin(ARGV)',
    `${lua}end`,
    ...names.map((name) => {
      const flags = growing.has(name as ScriptName) ? '' : ", flags = { 'allow-oom' }"
      const place = `library .. '_${underscored(name)}'`
      return `redis.register_function({ function_name = ${place}, callback = run${flags} })`
    }),
    'end',
  ].join('\n')
}

const shipped = joined(luaFiles)
const version = createHash('sha256').update(shipped).digest('hex').slice(0, 12)

export function libraryOf(database: number): Library {
  const name = `${libraryPrefix(database)}${version}`
  const head = `#!lua name=${name}\nlocal library, database = '${name}', ${database}\n`
  return {
    name,
    text: head + shipped,
    functionOf: (script) => `${name}_${underscored(script)}`,
  }
}
