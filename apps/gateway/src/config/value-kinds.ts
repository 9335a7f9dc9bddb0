import type { Durability } from '@crossgear/redis-store'

/** Turns the text of a flag or variable, or a value of the file, into a setting. */
export interface ValueKind<T> {
  /** Completes "give ..." in the error line. */
  readonly expected: string
  /** The setting; undefined for a value that is none. */
  readonly read: (value: unknown) => T | undefined
  /** The part of a wrong value that may be shown; keeps secrets out of logs. */
  readonly show?: (value: string) => string
  /** All values, where they are few words. */
  readonly choices?: readonly string[]
}

const maxPort = 65_535

export function isWhole(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max
}

function integer(min: number, max: number): ValueKind<number>['read'] {
  return (value) => {
    const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
    return isWhole(number, min, max) ? number : undefined
  }
}

export function wholeNumber(min: number, max: number): ValueKind<number> {
  return { expected: `a whole number from ${min} to ${max}`, read: integer(min, max) }
}

export function portOr<Word extends string>(word: Word): ValueKind<number | Word> {
  const read = integer(0, maxPort)
  return {
    expected: `a port from 0 to ${maxPort} (0 takes a free one), or ${word}`,
    read: (value) => (value === word ? word : read(value)),
  }
}

export function oneOf<const Words extends readonly string[]>(
  words: Words,
): ValueKind<Words[number]> {
  return {
    expected: words.join(', '),
    read: (value) => words.find((word) => word === value),
    choices: words,
  }
}

/** `1.1`, which TOML may have as a number. */
export function versionOf<const Words extends readonly string[]>(
  words: Words,
): ValueKind<Words[number]> {
  const { read, choices = words } = oneOf(words)
  return {
    expected: words.join(' or '),
    read: (value) => read(typeof value === 'number' ? value.toFixed(1) : value),
    choices,
  }
}

const yesAndNo: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...['yes', 'true', true].map((word) => [word, true] as const),
  ...['no', 'false', false].map((word) => [word, false] as const),
])

/** `yes` or `no`, or a TOML boolean. */
export function yesNo(): ValueKind<boolean> {
  const choices = ['yes', 'no']
  return { expected: choices.join(' or '), read: (value) => yesAndNo.get(value), choices }
}

export function text(expected: string, pattern = /^\P{Cc}+$/u): ValueKind<string> {
  return {
    expected,
    read: (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined),
  }
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
  return {
    expected,
    read: (value) => (typeof value === 'string' && accepts(value) ? value : undefined),
    show,
  }
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
