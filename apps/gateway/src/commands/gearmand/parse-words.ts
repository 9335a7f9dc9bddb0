import { StartError } from '../../errors.ts'
import { type GearmandOption, gearmandOptions } from './option-table.ts'

/** Given options by their long names; empty text for one without a value. */
export type Given = ReadonlyMap<string, string>

const byName = new Map(gearmandOptions.map((option) => [option.name, option]))
const byShort = new Map(gearmandOptions.map((option) => [option.short, option]))

export function findOption(name: string): GearmandOption | undefined {
  return byName.get(name)
}

/** gearmand's line for the same mistake. */
export function usageError(message: string): StartError {
  return new StartError(message, 1)
}

function unknown(word: string): StartError {
  return usageError(`unrecognised option '${word}'`)
}

export interface ParseRules {
  /** Called for a word that is neither an option nor a value. */
  readonly stray?: (word: string) => void
}

/**
 * Parses words as gearmand does, with its errors, which no library has: `--name=value`, `--name value`, `-nvalue`, `-n value`, and short
 * options without a value in one word (`-dR`). Names cannot be shortened.
 *
 * @throws StartError (code 1) with gearmand's own words.
 */
export function parseWords(words: readonly string[], { stray }: ParseRules = {}): Given {
  const given = new Map<string, string>()
  const rest = [...words]
  const put = (option: GearmandOption, value: string): void => {
    if (given.has(option.name)) {
      throw usageError(`option '--${option.name}' cannot be specified more than once`)
    }
    given.set(option.name, checkValue(option, value))
  }
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word.startsWith('--')) takeLong(word, rest, put)
    else if (word.startsWith('-') && word.length > 1) takeShort(word, rest, put)
    else if (stray) stray(word)
    else throw unknown(word)
  }
  return given
}

type Put = (option: GearmandOption, value: string) => void

function takeLong(word: string, rest: string[], put: Put): void {
  const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? []
  const option = byName.get(name)
  if (!option) throw unknown(word)
  if (value === '') {
    throw usageError(
      `the argument for option '--${name}' should follow immediately after the equal sign`,
    )
  }
  if (value !== undefined && option.argument === undefined) {
    throw usageError(`option '--${name}' does not take any arguments`)
  }
  put(option, option.argument === undefined ? '' : (value ?? nextValue(option, rest)))
}

function takeShort(word: string, rest: string[], put: Put): void {
  for (let at = 1; at < word.length; at++) {
    const option = byShort.get(word.charAt(at))
    if (!option) throw unknown(at === 1 ? word : `-${word.slice(at)}`)
    if (option.argument !== undefined) {
      put(option, word.slice(at + 1) || nextValue(option, rest))
      return
    }
    put(option, '')
  }
}

/** The next word, whatever it looks like, unless it is a short option by itself. */
function nextValue(option: GearmandOption, rest: string[]): string {
  const word = rest.shift()
  if (word === undefined || (word.length === 2 && word.startsWith('-') && byShort.has(word[1]))) {
    throw usageError(`the required argument for option '--${option.name}' is missing`)
  }
  return word
}

function checkValue(option: GearmandOption, value: string): string {
  if (option.argument === 'number' && !/^-?\d{1,15}$/.test(value)) {
    throw usageError(`the argument ('${value}') for option '--${option.name}' is invalid`)
  }
  return value
}
