import { readFileSync } from 'node:fs'
import type { Throttle } from '@crossgear/core-scheduler'
import { parse, TomlError } from 'smol-toml'
import { oneLine, StartError, systemCode } from '../lifecycle/start-error.ts'
import type { CronEntry } from '../cron/cron-entry.ts'
import { readThrottles } from './throttles.ts'
import { closest } from './closest.ts'
import { readCronEntries } from './cron-entries.ts'
import { keyOf, optionNames, type OptionName } from './options.ts'
import { isTable, readRoutes, type Route } from './routes.ts'

export interface FileSettings {
  readonly values: ReadonlyMap<OptionName, unknown>
  readonly routes: ReadonlyMap<string, Route>
  readonly cron: readonly CronEntry[]
  readonly throttles: ReadonlyMap<string, Throttle>
}

const namesByKey = new Map<string, OptionName>()
for (const name of optionNames) {
  const key = keyOf(name)
  if (key !== null) namesByKey.set(key, name)
}

/** Reads the TOML file. A key that names no setting is refused, so that no typing error goes unseen. */
export function readConfigFile(path: string): FileSettings {
  const { routes, cron, throttles, ...settings } = parseFile(path)
  const values = new Map<OptionName, unknown>()
  for (const [key, value] of flatten(settings, '')) {
    const name = namesByKey.get(key)
    if (name === undefined) {
      const advice = closest(key, [...namesByKey.keys(), 'routes', 'cron', 'throttles'])
      const remedy = advice === undefined ? 'see crossgear --help' : `did you mean ${advice}?`
      throw new StartError(`${key} in ${path} is no setting: ${remedy}`, 2)
    }
    values.set(name, value)
  }
  return {
    values,
    routes: readRoutes(routes, path),
    cron: readCronEntries(cron, path),
    throttles: readThrottles(throttles, path),
  }
}

function parseFile(path: string): Record<string, unknown> {
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
    throw new StartError(`${path} cannot be read (${reason}): give a file with --config.`, 2, {
      cause: error,
    })
  }
}

/** `{ bridge: { faktory } }` becomes `bridge.faktory`. */
function* flatten(table: object, prefix: string): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(table) as [string, unknown][]) {
    if (isTable(value)) yield* flatten(value, `${prefix}${key}.`)
    else yield [prefix + key, value]
  }
}
