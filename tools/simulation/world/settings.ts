import {
  functionLimit,
  type FunctionOrder,
  type LiveSettings,
  type NewJob,
  type RouteTerms,
  type Throttle,
} from '@crossgear/core-scheduler'
import type { Plan } from './plan.ts'

/** Functions of all worlds. */
export const functions = ['mail', 'resize', 'report'] as const
export const queues = ['default', 'bulk', 'slow'] as const
/** Lease of a consumer's job, seconds: the shortest of the protocol. */
export const reserveForSeconds = 60

/** Settings that a reload replaces. */
interface Version {
  /** Home queues of functions, if not `default`. */
  readonly homes: Readonly<Record<string, string>>
  /** Terms of jobs by the routes of their functions. */
  readonly routes: Readonly<Record<string, RouteTerms>>
  readonly throttles: Readonly<Record<string, Throttle>>
}

/** Most jobs of `resize` at a time, before and after each reload. */
export const maxResizing = 2

const always: Version['throttles'] = {
  [functionLimit('resize')]: { concurrency: maxResizing },
  [functionLimit('report')]: { concurrency: 1, isPerTurn: true },
}

const limits: Version['throttles'] = {
  ...always,
  slow: { concurrency: 1 },
  bulk: { rate: { jobs: 3, perMs: 1_000 } },
  [functionLimit('mail')]: { rate: { jobs: 4, perMs: 1_000 } },
}

/** Each reload goes on to the other of the two. */
const versions: readonly Version[] = [
  {
    homes: { report: 'bulk' },
    routes: {
      mail: { retries: 2, backoff: '3 6', maxWaiting: 8 },
      resize: { retentionSeconds: 30, needsWorker: true },
    },
    throttles: limits,
  },
  {
    homes: { report: 'slow', mail: 'bulk' },
    routes: {
      mail: { retries: 1, backoff: 'exponential 2 20', obeysRetryAfter: true },
      report: { retries: 1, maxWaiting: 4 },
    },
    throttles: { ...always, slow: { concurrency: 2 }, default: { concurrency: 2 } },
  },
]

/** The settings of all gateways of a world, which a reload changes in place. */
export interface Settings {
  readonly homes: Map<string, string>
  readonly throttles: Map<string, Throttle>
  readonly functionOrder: FunctionOrder
  /** Entries as in a configuration file. */
  readonly cron: readonly object[]
  readonly hasRoutes: boolean
  readonly hasThrottles: boolean
  readonly waitsForReplica: boolean
  /** A dead consumer gives back all its jobs where the store's clock steps. */
  readonly deadWorkerRequeue: 'others' | 'all'
  /** Reloads so far. */
  reloads: number
}

const versionOf = (reloads: number): Version => versions[reloads % versions.length] as Version

export function settingsOf(plan: Plan): Settings {
  const { hasThrottles, hasRoutes, hasCron, functionOrder, waitsForReplica, changes } = plan
  const tick = {
    name: 'tick',
    schedule: '*/2 * * * * *',
    job: { type: 'mail', args: ['cron'], reserve_for: reserveForSeconds },
  }
  const { homes, throttles } = versionOf(0)
  return {
    functionOrder,
    waitsForReplica,
    hasRoutes,
    hasThrottles,
    reloads: 0,
    cron: hasCron ? [tick] : [],
    deadWorkerRequeue: changes.some(({ kind }) => kind === 'clock step') ? 'all' : 'others',
    homes: new Map(Object.entries(homes)),
    throttles: new Map(hasThrottles ? Object.entries(throttles) : []),
  }
}

/** The next version, in place: stores of a world look at these maps. */
export function reload(settings: Settings): void {
  settings.reloads += 1
  const { homes, throttles } = versionOf(settings.reloads)
  replaceAll(settings.homes, homes)
  if (settings.hasThrottles) replaceAll(settings.throttles, throttles)
}

function replaceAll<Value>(map: Map<string, Value>, by: Readonly<Record<string, Value>>): void {
  map.clear()
  for (const [name, value] of Object.entries(by)) map.set(name, value)
}

/** Lanes where jobs take turns. */
export const turnLanes = ['report', ...queues.map((queue) => `report@${queue}`)]

/** The value by which a job takes turns: clients have two each, and some jobs none. */
function turnOf({ input }: Pick<NewJob, 'input'>): string {
  const [, client = '', number = '0'] =
    /([a-z]+\d+)-(\d+)/.exec(Buffer.from(input).toString()) ?? []
  return Number(number) % 4 === 3 ? '' : `${client} ${Number(number) % 2}`
}

/** Lanes that the limit of `resize` covers. */
export const resizeLanes = ['resize', ...queues.map((queue) => `resize@${queue}`)]

/** A line for a limit that is exceeded. `leased`: jobs of {@link resizeLanes} that workers of gateways have. */
export function excessOf({ hasThrottles }: Settings, leased: readonly string[]): string[] {
  if (!hasThrottles || leased.length <= maxResizing) return []
  return [`resize: ${leased.join(', ')} are leased, and ${maxResizing} may be`]
}

/** A line for each value with more than one job. `leased`: lane and value of jobs of {@link turnLanes} that workers have. */
export function turnExcessOf({ hasThrottles }: Settings, leased: readonly string[]): string[] {
  if (!hasThrottles) return []
  const twice = leased.filter((one, at) => leased.indexOf(one) !== at)
  return twice.map((one) => `${one}: two jobs of a value are leased, and one may be`)
}

/** Settings that a gateway takes over; copies, since it compares them with the next ones. */
export function liveSettings(settings: Settings): LiveSettings {
  const { homes, throttles, hasRoutes, hasThrottles, reloads } = settings
  const routes = new Map<string, RouteTerms>(
    hasRoutes ? Object.entries(versionOf(reloads).routes) : [],
  )
  if (hasThrottles) routes.set('report', { ...routes.get('report'), turnOf })
  return {
    homes: new Map(homes),
    throttles: new Map(throttles),
    routed: new Set(hasRoutes ? homes.keys() : []),
    routes,
  }
}

/** Retries that a job without the field may have got; `byDoor`: without a route. */
export function possibleRetries(
  { hasRoutes, changes }: Plan,
  fn: string,
  byDoor: number,
): number[] {
  if (!hasRoutes) return [byDoor]
  const isReloaded = changes.some(({ kind }) => kind === 'reload')
  return versions
    .slice(0, isReloaded ? undefined : 1)
    .map(({ routes }) => routes[fn]?.retries ?? byDoor)
}

/** Queues that may be the home of a function. */
export const possibleHomes = (fn: string): string[] =>
  versions.map(({ homes }) => homes[fn] ?? 'default')
