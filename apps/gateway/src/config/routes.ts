import { StartError } from '../errors.ts'
import type { FwpJob } from '@crossgear/fwp-codec'
import { deathJobOf } from '../faktory/death-calls.ts'
import { checkLimits, type FunctionLimit, limitFields, readLimit } from './function-limits.ts'
import { pushFields, type PushRoute, readPush } from './push-route.ts'
import { closest } from './unknown-variables.ts'
import { isWhole, type TableField } from './value-kinds.ts'

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
  /** Pushed when a job of the function dies. */
  readonly onDeath?: FwpJob
  readonly limit?: FunctionLimit
  /** Its jobs go to a URL. */
  readonly push?: PushRoute
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
  on_death: {
    expected:
      'a job, { jobtype = "report" } and any of queue, args, priority, retry and reserve_for',
    accepts: (value) => isTable(value) && deathJobOf(value) !== undefined,
  },
  ...limitFields,
  ...pushFields,
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

/** Tables of the file under one name. */
interface Section {
  readonly name: string
  /** The name of each table. */
  readonly of: string
  readonly fields: Readonly<Record<string, TableField>>
  /** Why a table may not have its name. */
  readonly nameFault?: (name: string) => string | undefined
}

/** The tables of a section with their keys checked; none where the file has none. Throws a StartError. */
export function readSection(
  given: unknown,
  { name: section, of, fields, nameFault }: Section,
  file: string,
): readonly (readonly [name: string, table: Table])[] {
  if (given === undefined) return []
  const refusal = (place: string, fault: string): StartError =>
    new StartError(`${place} in ${file} ${fault}.`, 2)
  if (!isTable(given)) throw refusal(section, `is not a table: write [${section}.<${of}>]`)
  return Object.entries(given).map(([name, table]) => {
    const place = `${section}.${name}`
    const fault = nameFault?.(name)
    if (fault !== undefined) throw refusal(place, fault)
    if (!isTable(table)) throw refusal(place, `is not a table: write [${place}]`)
    for (const [key, value] of Object.entries(table)) {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined
      if (!field) {
        const advice = closest(key, Object.keys(fields)) ?? Object.keys(fields).join(', ')
        throw refusal(`${place}.${key}`, `is unknown: use ${advice}`)
      }
      if (!field.accepts(value)) {
        const shown = field.isSecret ? 'is wrong' : `is ${JSON.stringify(value)}`
        throw refusal(`${place}.${key}`, `${shown}: give ${field.expected}`)
      }
    }
    return [name, table]
  })
}

/** Reads the tables `[routes.<function>]` of the file, with any of the keys above. */
export function readRoutes(routes: unknown, file: string): ReadonlyMap<string, Route> {
  const section = { name: 'routes', of: 'function', fields }
  const read = new Map(
    readSection(routes, section, file).map(([name, table]) => [
      name,
      routeOf(table, (key) => `routes.${name}.${key} in ${file}`),
    ]),
  )
  checkLimits(read, file)
  return read
}

function routeOf(table: Table, placeOf: (key: string) => string): Route {
  const { retention_seconds: seconds, on_death: pushed, concurrency, rate, per, ...others } = table
  const isOwn = ([key]: readonly [string, unknown]): boolean => !(key in pushFields)
  const limit = readLimit(concurrency, rate, per)
  const onDeath = deathJobOf(pushed)
  const push = readPush(table, placeOf)
  return Object.freeze({
    ...(Object.fromEntries(Object.entries(others).filter(isOwn)) as Route),
    ...(seconds !== undefined && { retentionSeconds: seconds as number }),
    ...(onDeath && { onDeath }),
    ...(limit && { limit }),
    ...(push && { push }),
  })
}
