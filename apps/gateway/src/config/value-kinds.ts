import type { Durability } from '@crossgear/redis-store'
import * as v from 'valibot'

/** Turns the text of a flag or variable, or a value of the file, into a setting. */
export interface ValueKind<T> {
  /** Completes "give ..." in the error line. */
  readonly expected: string
  readonly schema: v.GenericSchema<unknown, T>
  /** The part of a wrong value that may be shown; keeps secrets out of logs. */
  readonly show?: (value: string) => string
  /** All values, where they are few words. */
  readonly choices?: readonly string[]
}

const maxPort = 65_535

function integer(min: number, max: number) {
  const inRange = v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max))
  const fromText = v.pipe(
    v.string(),
    v.regex(/^\d{1,16}$/),
    v.transform((text) => Number(text)),
  )
  return v.pipe(v.union([v.number(), fromText]), inRange)
}

export function wholeNumber(min: number, max: number): ValueKind<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    schema: integer(min, max),
  }
}

/** `auto` stands for a given number, limited to the bound. */
export function countOrAuto(max: number, auto: number): ValueKind<number> {
  const fromWord = v.pipe(
    v.literal('auto'),
    v.transform(() => Math.min(auto, max)),
  )
  return {
    expected: `a whole number from 1 to ${max}, or auto`,
    schema: v.union([integer(1, max), fromWord]),
  }
}

export function portOr<Word extends string>(word: Word): ValueKind<number | Word> {
  return {
    expected: `a port from 0 to ${maxPort} (0 takes a free one), or ${word}`,
    schema: v.union([integer(0, maxPort), v.literal(word)]),
  }
}

export function oneOf<const Words extends readonly string[]>(
  words: Words,
): ValueKind<Words[number]> {
  return { expected: words.join(', '), schema: v.picklist(words), choices: words }
}

/** `1.1`, which TOML may have as a number. */
export function versionOf<const Words extends readonly string[]>(
  words: Words,
): ValueKind<Words[number]> {
  const fromNumber = v.pipe(
    v.number(),
    v.transform((number) => number.toFixed(1)),
  )
  return {
    expected: words.join(' or '),
    schema: v.pipe(v.union([v.string(), fromNumber]), v.picklist(words)),
    choices: words,
  }
}

/** `yes` or `no`, or a TOML boolean. */
export function yesNo(): ValueKind<boolean> {
  const fromWord = v.pipe(
    v.picklist(['yes', 'no', 'true', 'false']),
    v.transform((word) => word === 'yes' || word === 'true'),
  )
  const choices = ['yes', 'no']
  return { expected: choices.join(' or '), schema: v.union([v.boolean(), fromWord]), choices }
}

export function text(expected: string, pattern = /^\P{Cc}+$/u): ValueKind<string> {
  return { expected, schema: v.pipe(v.string(), v.regex(pattern)) }
}

export function secret(expected: string): ValueKind<string> {
  return { ...text(expected), show: () => '***' }
}

/** Text that passes `accepts`. */
export function checkedText(
  expected: string,
  accepts: (value: string) => boolean,
  show: (value: string) => string,
): ValueKind<string> {
  return { expected, schema: v.pipe(v.string(), v.check(accepts)), show }
}

/** An optional setting. */
export function optional<T>(kind: ValueKind<T>): ValueKind<T | undefined> {
  return kind
}

/** Most replicas that may be asked for. */
export const maxReplicas = 100

/** Reads `store`, `fsync` or `replicas:n`; undefined for anything else. */
export function readDurability(text: string): Durability | undefined {
  if (text === 'store' || text === 'fsync') return { level: text }
  const replicas = Number(/^replicas:(\d{1,3})$/.exec(text)?.[1] ?? 0)
  return replicas >= 1 && replicas <= maxReplicas ? { level: 'replicas', replicas } : undefined
}

/** One setting. Its flag, variables and file key follow from its name in the table. */
export interface OptionRow<T> {
  readonly group: 'Doors' | 'Store' | 'Jobs' | 'Processes' | 'Limits' | 'Output'
  /** Placeholder of the value in `--help`. */
  readonly argument: string
  readonly help: string
  readonly value: ValueKind<T>
  readonly fallback: NoInfer<T>
  /** Shown in `--help` if the fallback is computed or unset. */
  readonly shownFallback?: string
  /** Key in the TOML file, if not the name in snake case; null: not in the file. */
  readonly key?: string | null
  /** Further variables; CROSSGEAR_<NAME> wins over them. */
  readonly alsoEnv?: readonly string[]
  /** A value that begins with `/` names a file with the value. */
  readonly readsFile?: true
  /** A reload gives it to the running gateway. */
  readonly reloads?: true
}

export function row<T>(definition: OptionRow<T>): OptionRow<T> {
  return definition
}
