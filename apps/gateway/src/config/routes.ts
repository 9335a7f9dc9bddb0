import { functionFault, LaneNameError, LaneNames, type RouteTerms } from '@crossgear/core-scheduler'
import type { FwpJob } from '@crossgear/fwp-codec'
import { deathJobOf } from '../doors/faktory/death-calls.ts'
import { checkLimits, type FunctionLimit, limitFields, readLimit } from './function-limits.ts'
import { pushFields, type PushRoute, readPush } from './push-route.ts'
import {
  faultOfRule,
  jobTermsOf,
  maxRules,
  type RouteRule,
  ruleFields,
  ruleOf,
  runFields,
  type RunTerms,
  runTermsOf,
  termsByRules,
} from './route-rules.ts'
import {
  checkedTable,
  isTable,
  matching,
  oneOf,
  readSection,
  refusalIn,
  type Table,
  trueOrFalse,
  wholeFrom,
} from './table-fields.ts'
import { isWhole, type TableField } from './value-kinds.ts'

/** Translation between a workload and the arguments of a Faktory job. */
export type PayloadRule = 'auto' | 'string' | 'json' | 'base64'

/** Configuration of one function. */
export interface Route extends RunTerms {
  /** Home queue: its Faktory consumers get the function's jobs. */
  readonly queue?: string
  /** Terms for some of its jobs; the first that holds counts. */
  readonly when?: readonly RouteRule[]
  /** A worker's message may begin with `retry-after: N`. */
  readonly obeysRetryAfter?: boolean
  /** Retention of finished jobs. */
  readonly retentionSeconds?: number
  readonly payload?: PayloadRule
  /** Pushed when a job of the function dies. */
  readonly onDeath?: FwpJob
  readonly limit?: FunctionLimit
  /** The jobs of the function go to a URL. */
  readonly push?: PushRoute
  /** Jobs are refused while no worker is there for them. */
  readonly withoutWorkers?: 'refuse' | 'accept'
  /** Jobs are refused while so many wait. */
  readonly maxWaiting?: number
  /** Jobs that wait longer are not run. */
  readonly maxAgeSeconds?: number
  /** The end of a background job that waited longer. dead. */
  readonly maxAgeAction?: 'dead' | 'drop'
}

const fields: Readonly<Record<string, TableField>> = {
  queue: matching('a queue name of letters, digits, dot, underscore and hyphen', /^[\w.-]+$/),
  ...runFields,
  when: {
    expected: `1 to ${maxRules} rules, each as [[routes.<function>.when]]`,
    accepts: (value) => Array.isArray(value) && value.length > 0 && value.length <= maxRules,
  },
  obey_retry_after: trueOrFalse,
  retention_seconds: {
    expected: 'a whole number of seconds',
    accepts: (value) => isWhole(value, 0, Number.MAX_SAFE_INTEGER),
  },
  payload: oneOf('auto', 'string', 'json', 'base64'),
  without_workers: oneOf('refuse', 'accept'),
  max_waiting: wholeFrom(1, 2_147_483_647),
  max_age: wholeFrom(1, 31_536_000, 'a whole number of seconds'),
  max_age_action: oneOf('dead', 'drop'),
  on_death: {
    expected:
      'a job, { jobtype = "report" } and any of queue, args, priority, retry and reserve_for',
    accepts: (value) => isTable(value) && deathJobOf(value) !== undefined,
  },
  ...limitFields,
  ...pushFields,
}

/** The fields that a route has under another name. */
const renamed: Readonly<Record<string, keyof Route>> = {
  queue: 'queue',
  obey_retry_after: 'obeysRetryAfter',
  retention_seconds: 'retentionSeconds',
  payload: 'payload',
  without_workers: 'withoutWorkers',
  max_waiting: 'maxWaiting',
  max_age: 'maxAgeSeconds',
  max_age_action: 'maxAgeAction',
}

/** Home queue of each function with a route. */
export function routedHomes(routes: ReadonlyMap<string, Route>): ReadonlyMap<string, string> {
  const homes = new Map<string, string>()
  for (const [fn, { queue }] of routes) if (queue !== undefined) homes.set(fn, queue)
  return homes
}

/** Names of lanes by these home queues. */
export function laneNamesOf({
  routes,
}: {
  readonly routes: ReadonlyMap<string, Route>
}): LaneNames {
  return new LaneNames(routedHomes(routes))
}

/** Terms of jobs by the routes, in the scheduler's form; without the functions that have none. `others`: those of other parts. */
export function routeTerms(
  routes: ReadonlyMap<string, Route>,
  others: (fn: string, route: Route) => Pick<RouteTerms, 'onDeath' | 'turnOf'>,
): ReadonlyMap<string, RouteTerms> {
  const terms = new Map<string, RouteTerms>()
  for (const [fn, route] of routes) {
    const of = { ...termsOf(route), ...others(fn, route) }
    if (Object.keys(of).length > 0) terms.set(fn, of)
  }
  return terms
}

function termsOf(route: Route): RouteTerms {
  const { when, obeysRetryAfter, retentionSeconds, maxWaiting, maxAgeSeconds } = route
  return {
    ...jobTermsOf(route),
    ...(when && { ofJob: termsByRules(when) }),
    ...(obeysRetryAfter && { obeysRetryAfter }),
    ...(retentionSeconds !== undefined && { retentionSeconds }),
    ...(route.withoutWorkers === 'refuse' && { needsWorker: true }),
    ...(maxWaiting !== undefined && { maxWaiting }),
    ...(maxAgeSeconds !== undefined && {
      maxAgeMs: maxAgeSeconds * 1000,
      dropsAged: route.maxAgeAction === 'drop',
    }),
  }
}

/** Reads the tables `[routes.<function>]` of the file, with any of the keys above. */
export function readRoutes(routes: unknown, file: string): ReadonlyMap<string, Route> {
  const section = { name: 'routes', of: 'function', fields, nameFault }
  const read = new Map(
    readSection(routes, section, file).map(([name, table]) => [
      name,
      routeOf(table, `routes.${name}`, file),
    ]),
  )
  checkLimits(read, file)
  return read
}

function nameFault(fn: string): string | undefined {
  const fault = functionFault(fn)
  return fault && `is for no function: ${new LaneNameError(fault).message}`
}

function routeOf(table: Table, place: string, file: string): Route {
  if (table['max_age_action'] !== undefined && table['max_age'] === undefined)
    throw refusalIn(file)(`${place}.max_age_action`, 'has no effect alone: give max_age with it')
  const given = Object.entries(renamed).flatMap(([key, field]) =>
    table[key] === undefined ? [] : [[field, table[key]]],
  )
  const when = table['when'] as readonly unknown[] | undefined
  const limit = readLimit(table['concurrency'], table['rate'], table['per'])
  const onDeath = deathJobOf(table['on_death'])
  const push = readPush(table, (key) => `${place}.${key} in ${file}`)
  return Object.freeze({
    ...runTermsOf(table),
    ...(Object.fromEntries(given) as Route),
    ...(when && { when: when.map((rule, at) => readRule(rule, `${place}.when[${at + 1}]`, file)) }),
    ...(onDeath && { onDeath }),
    ...(limit && { limit }),
    ...(push && { push }),
  })
}

function readRule(rule: unknown, place: string, file: string): RouteRule {
  const table = checkedTable(rule, place, ruleFields, file)
  const fault = faultOfRule(table)
  if (fault !== undefined) throw refusalIn(file)(place, fault)
  return ruleOf(table)
}
