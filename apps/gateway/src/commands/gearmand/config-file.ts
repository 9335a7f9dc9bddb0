import { readFileSync } from 'node:fs'
import { findOption, type Given, parseWords, usageError } from './parse-words.ts'

const usualPath = '/etc/gearmand.conf'
const keyAndValue = /^([a-z][a-z0-9-]*)\s*=\s*(.*)$/

/**
 * Adds the file's options to those of the command line, which win. Without a path the usual file
 * is read, if there is one.
 *
 * @throws StartError (code 1)
 */
export function withConfigFile(given: Given, path: string | undefined): Given {
  let text: string
  try {
    text = readFileSync(path ?? usualPath, 'utf8')
  } catch {
    if (path === undefined) return given
    throw usageError('Could not open configuration file.')
  }
  return new Map([...parseConfigText(text), ...given])
}

/**
 * Options as on the command line, several to a line if need be, or lines of `name = value`. Lines
 * that begin with `#` are comments; other words are ignored, as by gearmand.
 */
export function parseConfigText(text: string): Given {
  const words = text.split('\n').flatMap((line) => wordsOf(line.trim()))
  return parseWords(words, { stray: () => undefined })
}

function wordsOf(line: string): readonly string[] {
  if (line.startsWith('#')) return []
  const [, name = '', value = ''] = keyAndValue.exec(line) ?? []
  const option = findOption(name)
  if (!option) return line.split(/\s+/).filter((word) => word !== '')
  if (option.argument !== undefined) return [`--${name}=${value}`]
  return ['', 'no', 'false', '0', 'off'].includes(value) ? [] : [`--${name}`]
}
