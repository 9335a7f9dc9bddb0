import { readFileSync } from 'node:fs'

const folder = new URL('../lua/', import.meta.url)

/**
 * A script, after what it needs of the parts of `lua/lib/` that it and they name in `--#include` lines, without
 * comments. The server makes each function anew in every call: one that nothing uses would cost in all of them.
 */
export function readScript(name: string): string {
  const included = new Set<string>()
  const pieces: string[] = []
  const read = (file: string): string =>
    readFileSync(new URL(file, folder), 'utf8').replace(/^--#include (\w+)$/gm, (_line, part) => {
      if (!included.has(String(part))) {
        included.add(String(part))
        pieces.push(...piecesOf(read(`lib/${String(part)}.lua`)))
      }
      return ''
    })
  let script = withoutComments(read(`${name}.lua`))
  for (const piece of pieces.reverse()) {
    if (namesOf(piece).some((word) => isUsed(word, script))) script = piece + script
  }
  return script
}

/** The definitions of a library, one after the other. */
function piecesOf(library: string): string[] {
  return withoutComments(library).split(/^(?=local |\w+ = )/m)
}

function withoutComments(lua: string): string {
  return lua.replace(/^ *--.*\n/gm, '').replace(/^\n+/gm, '')
}

/** What is defined: `local function name`, `local name, name = ...` or `name = ...`. */
function namesOf(piece: string): string[] {
  const names = /^(?:local (?:function )?)?(\w+(?:, \w+)*)/.exec(piece)?.[1]
  return names?.split(', ') ?? []
}

function isUsed(word: string, script: string): boolean {
  return new RegExp(`\\b${word}\\b`).test(script)
}
