import { readFileSync } from 'node:fs'
import type { Throttle } from '@crossgear/core-scheduler'
import { parse, TomlError } from 'smol-toml'
import { oneLine, StartError, systemCode } from '../errors.ts'
import { type CronEntry, CronEntryError, readCronEntry } from './cron-entry.ts'
import { keyOf, type OptionName, optionNames } from './options.ts'
import { refuseRemoved } from './removed-options.ts'
import { type Operator, readOperators } from './operators.ts'
import { readRoutes, type Route } from './routes.ts'
import { isTable } from './table-fields.ts'
import { readThrottles } from './throttles.ts'
import { closest } from './unknown-variables.ts'

export interface FileSettings {
  readonly values: ReadonlyMap<OptionName, unknown>
  readonly routes: ReadonlyMap<string, Route>
  readonly cron: readonly CronEntry[]
  readonly throttles: ReadonlyMap<string, Throttle>
  readonly operators: ReadonlyMap<string, Operator>
}

/** Tables of the file outside the option table. */
const sections = ['routes', 'cron', 'throttles', 'operators']

const namesByKey = new Map<string, OptionName>()
for (const name of optionNames) {
  const key = keyOf(name)
  if (key !== null) namesByKey.set(key, name)
}

/** Tables that contain settings: `bridge`. */
const tables = new Set(
  [...namesByKey.keys()].flatMap((key) => key.split('.').slice(0, -1).join('.') || []),
)

/** Reads the TOML file. Unknown keys are refused, so that no typing error goes unseen. */
export function readConfigFile(path: string): FileSettings {
  const { routes, cron, throttles, operators, ...settings } = parseFile(
    path,
    'give a file with --config',
  )
  const values = new Map<OptionName, unknown>()
  for (const [key, value] of flatten(settings, '')) {
    const name = namesByKey.get(key)
    if (name === undefined) {
      refuseRemoved(key, `${key} in ${path}`)
      throw new StartError(`${key} in ${path} is not a setting: ${remedyFor(key)}`, 2)
    }
    values.set(name, value)
  }
  return {
    values,
    routes: readRoutes(routes, path),
    cron: readCronEntries(cron, path),
    throttles: readThrottles(throttles, path),
    operators: readOperators(operators, path),
  }
}

/** An unknown table is mostly a misspelt one: `route.mail.queue`. */
function remedyFor(key: string): string {
  const keys = [...namesByKey.keys()]
  const [table = ''] = key.split('.')
  const advice = closest(key, [...keys, ...sections]) ?? closest(table, [...sections, ...tables])
  return advice === undefined ? 'see crossgear --help' : `did you mean ${advice}?`
}

/**
 * Parses a TOML file. `advice`: what to do where it cannot be read.
 *
 * @throws StartError (code 2)
 */
export function parseFile(path: string, advice: string): Record<string, unknown> {
  try {
    return parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof TomlError) {
      const reason = error.message.split('\n')[0]?.replace('Invalid TOML document: ', '')
      const at = `line ${error.line}, column ${error.column}`
      throw new StartError(`${path} is not TOML: ${reason ?? 'unreadable'} (${at}).`, 2, {
        cause: error,
      })
    }
    const reason = systemCode(error) === 'ENOENT' ? 'there is no such file' : oneLine(error)
    throw new StartError(`${path} cannot be read (${reason}): ${advice}.`, 2, {
      cause: error,
    })
  }
}

/** `{ bridge: { faktory } }` becomes `bridge.faktory`. An unknown table counts even if empty. */
function* flatten(table: object, prefix: string): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(table) as [string, unknown][]) {
    const path = prefix + key
    if (!isTable(value)) yield [path, value]
    else if (Object.keys(value).length > 0) yield* flatten(value, `${path}.`)
    else if (!tables.has(path)) yield [path, value]
  }
}

/** Reads the tables `[[cron]]` of the file: `schedule`, `[cron.job]`, and perhaps `name`, `timezone`. */
export function readCronEntries(entries: unknown, file: string): readonly CronEntry[] {
  if (entries === undefined) return []
  if (!Array.isArray(entries)) {
    throw new StartError(`cron in ${file} is not a list: write [[cron]].`, 2)
  }
  const byName = new Map<string, CronEntry>()
  for (const [at, value] of entries.entries()) {
    const entry = readEntry(value, `cron entry ${at + 1} in ${file}`)
    if (byName.has(entry.name)) {
      throw new StartError(`Two cron entries in ${file} are ${entry.name}: give each a name.`, 2)
    }
    byName.set(entry.name, entry)
  }
  return [...byName.values()]
}

function readEntry(value: unknown, place: string): CronEntry {
  try {
    return readCronEntry(value)
  } catch (error) {
    if (!(error instanceof CronEntryError)) throw error
    throw new StartError(`${place}: ${error.message}.`, 2, { cause: error })
  }
}
