import { StartError } from '../errors.ts'
import { closest } from './unknown-variables.ts'
import { isWhole } from './value-kinds.ts'

/** Translation between a workload and the arguments of a Faktory job. */
export type PayloadRule = 'auto' | 'string' | 'json' | 'base64'

/** Configuration of one function. */
export interface Route {
  /** Home queue: its Faktory consumers get the function's jobs. */
  readonly queue?: string
  /** Retries after the first run, for jobs of every door. */
  readonly retries?: number
  /** Retention of finished jobs. */
  readonly retentionSeconds?: number
  readonly payload?: PayloadRule
}

/** A key of a table of the file. */
export interface TableField {
  /** Completes "give ..." in the error line. */
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
}

const payloadRules: readonly unknown[] = ['auto', 'string', 'json', 'base64']

const fields: Readonly<Record<string, TableField>> = {
  queue: {
    expected: 'a queue name of letters, digits, dot, underscore and hyphen',
    accepts: (value) => typeof value === 'string' && /^[\w.-]+$/.test(value),
  },
  retries: {
    expected: 'a whole number from 0 to 1000000',
    accepts: (value) => isWhole(value, 0, 1_000_000),
  },
  retention_seconds: {
    expected: 'a whole number of seconds',
    accepts: (value) => isWhole(value, 0, Number.MAX_SAFE_INTEGER),
  },
  payload: {
    expected: payloadRules.join(', '),
    accepts: (value) => payloadRules.includes(value),
  },
}

/** Home queue of each function with a route. */
export function routedHomes(routes: ReadonlyMap<string, Route>): ReadonlyMap<string, string> {
  const homes = new Map<string, string>()
  for (const [fn, { queue }] of routes) if (queue !== undefined) homes.set(fn, queue)
  return homes
}

type Table = Readonly<Record<string, unknown>>

export function isTable(value: unknown): value is Table {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  )
}

/**
 * Reads the table `[routes]` of the file: `[routes.<function>]` with any of `queue`, `retries`,
 * `retention_seconds` and `payload`.
 */
export function readRoutes(routes: unknown, file: string): ReadonlyMap<string, Route> {
  if (routes === undefined) return new Map()
  if (!isTable(routes)) {
    throw new StartError(`routes in ${file} is not a table: write [routes.<function>].`, 2)
  }
  return new Map(
    Object.entries(routes).map(([name, route]) => [name, readRoute(name, route, file)]),
  )
}

function readRoute(name: string, route: unknown, file: string): Route {
  const place = `routes.${name}`
  if (!isTable(route)) {
    throw new StartError(`${place} in ${file} is not a table: write [${place}].`, 2)
  }
  for (const [key, value] of Object.entries(route)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (!field) {
      const advice = closest(key, Object.keys(fields)) ?? Object.keys(fields).join(', ')
      throw new StartError(`${place}.${key} in ${file} is unknown: use ${advice}.`, 2)
    }
    if (!field.accepts(value)) {
      const shown = JSON.stringify(value)
      throw new StartError(`${place}.${key} in ${file} is ${shown}: give ${field.expected}.`, 2)
    }
  }
  const { retention_seconds: retentionSeconds, ...rest } = route
  return Object.freeze({
    ...(rest as Route),
    ...(retentionSeconds === undefined ? {} : { retentionSeconds: retentionSeconds as number }),
  })
}
