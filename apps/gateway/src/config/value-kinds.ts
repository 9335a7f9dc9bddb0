import type { Durability } from '@crossgear/redis-store'
import type { OptionRow } from './option-row.ts'

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

/** A key of a table of the file. */
export interface TableField {
  /** Completes "give ..." in the error line. */
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
  /** A wrong value is not shown: it may hold a secret. */
  readonly isSecret?: true
}

/** The values of a setting, and its default. */
interface Values<T> {
  /** Placeholder of the value in `--help`. */
  readonly argument: string
  readonly value: ValueKind<T>
  readonly fallback: T
  /** Shown in `--help` if the fallback is computed or unset. */
  readonly shownFallback?: string
}

/** One setting. Its flag, variables and file key follow from its name in the table. */
export interface Setting<T = unknown> extends Values<T>, Pick<OptionRow, 'help'> {
  /** Key in the TOML file, if not the name in snake case; null: not in the file. */
  readonly key?: string | null
  /** Further variables; CROSSGEAR_<NAME> wins over them. */
  readonly alsoEnv?: readonly string[]
  /** A value that begins with `/` names a file with the value. */
  readonly readsFile?: true
  /** A reload gives it to the running gateway. */
  readonly reloads?: true
}

export type SettingGroup = 'Doors' | 'Store' | 'Jobs' | 'Limits' | 'Output'

type Grouped<Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] & { readonly group: SettingGroup }
}

/** Settings under one heading. */
export function inGroup<Rows extends Readonly<Record<string, Setting>>>(
  group: SettingGroup,
  rows: Rows,
): Grouped<Rows> {
  const entries = Object.entries(rows).map(([name, row]) => [name, { ...row, group }])
  return Object.fromEntries(entries) as Grouped<Rows>
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

/** A whole number. */
export function whole(
  argument: string,
  min: number,
  max: number,
  fallback: number,
): Values<number> {
  const value = { expected: `a whole number from ${min} to ${max}`, read: integer(min, max) }
  return { argument, value, fallback }
}

/** A port, or one of some words. */
export function portOr<const Words extends readonly string[]>(
  words: Words,
  fallback: NoInfer<number | Words[number]>,
): Values<number | Words[number]> {
  const read = integer(0, maxPort)
  const value: ValueKind<number | Words[number]> = {
    expected: `a port from 0 to ${maxPort} (0 takes a free one), or ${words.join(' or ')}`,
    read: (given) => words.find((word) => word === given) ?? read(given),
  }
  return { argument: 'port', value, fallback }
}

/** A value that is one of some words. */
export function oneOf<const Words extends readonly string[]>(
  argument: string,
  words: Words,
  fallback: NoInfer<Words[number]>,
): Values<Words[number]> {
  const value: ValueKind<Words[number]> = {
    expected: words.join(', '),
    read: (given) => words.find((word) => word === given),
    choices: words,
  }
  return { argument, value, fallback }
}

/** A value that is one of some versions, such as `1.1`, which TOML may have as a number. */
export function versionOf<const Words extends readonly string[]>(
  words: Words,
  fallback: NoInfer<Words[number]>,
): Values<Words[number]> {
  const { value, ...rest } = oneOf('version', words, fallback)
  const read = (given: unknown): Words[number] | undefined =>
    value.read(typeof given === 'number' ? given.toFixed(1) : given)
  return { ...rest, value: { ...value, expected: words.join(' or '), read } }
}

const yesAndNo: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...['yes', 'true', true].map((word) => [word, true] as const),
  ...['no', 'false', false].map((word) => [word, false] as const),
])

/** `yes` or `no`, or a TOML boolean; usually no. */
export const yesNo: Values<boolean> = {
  argument: 'yes|no',
  value: { expected: 'yes or no', read: (value) => yesAndNo.get(value), choices: ['yes', 'no'] },
  fallback: false,
  shownFallback: 'no',
}

export function text(expected: string, pattern = /^\P{Cc}+$/u): ValueKind<string> {
  return checkedText(expected, (value) => pattern.test(value))
}

/** Text that passes `accepts`. */
export function checkedText(
  expected: string,
  accepts: (value: string) => boolean,
  show: (value: string) => string = (value) => value,
): ValueKind<string> {
  return {
    expected,
    read: (value) => (typeof value === 'string' && accepts(value) ? value : undefined),
    show,
  }
}

/** An optional setting. */
export function optional<T>(
  argument: string,
  value: ValueKind<T>,
  shownFallback = 'none',
): Values<T | undefined> {
  return { argument, value, fallback: undefined, shownFallback }
}

/** A password that a reload changes, or the file that holds it. */
export const password: Omit<Setting<string | undefined>, 'help'> = {
  ...optional('password', {
    ...text('a password, or the path of a file that holds it'),
    show: () => '***',
  }),
  readsFile: true,
  reloads: true,
}

/** Most replicas that may be asked for. */
export const maxReplicas = 100

/** Reads `auto`, `store`, `fsync` or `replicas:n`; undefined for anything else. */
export function readDurability(text: string): Durability | undefined {
  if (text === 'auto' || text === 'store' || text === 'fsync') return { level: text }
  const replicas = Number(/^replicas:(\d{1,3})$/.exec(text)?.[1] ?? 0)
  return replicas >= 1 && replicas <= maxReplicas ? { level: 'replicas', replicas } : undefined
}
