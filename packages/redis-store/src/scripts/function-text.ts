import { createHash } from 'node:crypto'
import { linkedScripts } from '#linked-scripts'

/**
 * A script as a function stored in the server: its helper functions are made once, not in every
 * call.
 */
export interface ServerFunction {
  /** Contains a hash of its text: gateways of other versions have functions of their own. */
  readonly name: string
  /** For FUNCTION LOAD. */
  readonly library: string
}

/** A name that gets its value at the top of a library. */
const assignment = /^local (\w+(?:, \w+)*)(?: =\s)?/

/**
 * Makes a server function of a script in `lua/`. Functions and constant tables of its libraries are
 * made when the library is loaded, other values in every call. `grows`: a full server refuses it.
 */
export function functionOf(
  script: string,
  { database, grows }: { readonly database: number; readonly grows: boolean },
): ServerFunction {
  const { libraries = [], own = '' } = linkedScripts[script] ?? {}
  const fixed = libraries.filter(isFixed)
  const perCall = libraries.filter((piece) => !isFixed(piece))
  const names = perCall.flatMap((piece) => assignment.exec(piece)?.[1]?.split(', ') ?? [])
  const text = [
    `local KEYS, ARGV`,
    `local database = ${database}`,
    ...names.map((name) => `local ${name}`),
    ...fixed.map((piece) => piece.trimEnd()),
    'local function begin()',
    ...perCall.map((piece) => valueOf(piece).trimEnd()),
    'end',
    'local function run(keys, arguments)',
    'KEYS, ARGV = keys, arguments',
    'begin()',
    own.trimEnd(),
    'end',
  ].join('\n')
  const hash = createHash('sha256').update(text).update(String(grows)).digest('hex').slice(0, 12)
  const name = `crossgear_${script}_${hash}`
  const flags = grows ? '' : ", flags = { 'allow-oom' }"
  const register = `redis.register_function({ function_name = '${name}', callback = run${flags} })`
  return { name, library: `#!lua name=${name}\n${text}\n${register}\n` }
}

/** True for a function, and for a table with something in it: an empty one is filled by each call. */
function isFixed(piece: string): boolean {
  return (
    /^(?:local function|\w+\.\w+ = function)/.test(piece) ||
    /^local \w+ = \{[^}][\s\S]*\}\s*$/.test(piece)
  )
}

/**
 * The part of a piece that runs in each call: `local a, b = 1, 2` without `local`, so that no value
 * survives a call.
 */
function valueOf(piece: string): string {
  const found = assignment.exec(piece)
  if (!found) return piece
  if (/=\s$/.test(found[0])) return piece.replace(/^local /, '')
  return piece.replace(/^local (.*)/, '$1 = nil')
}
