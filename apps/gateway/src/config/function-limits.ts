import { functionLimit, type Throttle } from '@crossgear/core-scheduler'
import { StartError } from '../errors.ts'
import { isTurnKey } from '../bridge/turn-key.ts'
import { wholeFrom } from './table-fields.ts'
import { isWhole } from './value-kinds.ts'

/** A limit of a function, for all workers at gateways together. */
export interface FunctionLimit extends Pick<Throttle, 'concurrency' | 'rate'> {
  /** The key of whose values each has this limit, and by which they take turns. */
  readonly per?: string
}

type LimitedRoutes = ReadonlyMap<string, { readonly limit?: FunctionLimit }>

/** Most functions with a limit: each FETCH of a queue asks for all of them. */
export const maxLimitedFunctions = 100

const spanMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Reads `100/m`, jobs in a second, minute, hour or day; undefined for anything else. */
function readRate(value: unknown): Throttle['rate'] {
  const [, jobs, span = ''] = /^(\d{1,6})\/([smhd])$/.exec(String(value)) ?? []
  const perMs = spanMs[span]
  if (perMs === undefined || !isWhole(Number(jobs), 1, 100_000)) return undefined
  return { jobs: Number(jobs), perMs }
}

/** Keys of a route that limit its function. */
export const limitFields = {
  concurrency: wholeFrom(1, 10_000),
  rate: {
    expected: 'up to 100000 jobs in a second, minute, hour or day: "5/s", "100/m", "20/h", "1/d"',
    accepts: (value: unknown) => typeof value === 'string' && readRate(value) !== undefined,
  },
  per: {
    expected:
      'a path such as "custom.tenant" or "args.0.tenant", or "unique-prefix:" and up to 8 characters',
    accepts: isTurnKey,
  },
}

/** The limit of a route's table with fields that are accepted. */
export function readLimit(
  concurrency: unknown,
  rateText: unknown,
  per: unknown,
): FunctionLimit | undefined {
  const rate = readRate(rateText)
  if (concurrency === undefined && !rate && per === undefined) return undefined
  return {
    ...(concurrency !== undefined && { concurrency: concurrency as number }),
    ...(rate && { rate }),
    ...(per !== undefined && { per: per as string }),
  }
}

/** Throws a {@link StartError} where too many routes have a limit. */
export function checkLimits(routes: LimitedRoutes, file: string): void {
  const limited = [...routes.values()].filter(({ limit }) => limit).length
  if (limited <= maxLimitedFunctions) return
  throw new StartError(
    `routes in ${file} limit ${limited} functions: give concurrency, rate or per to at most ${maxLimitedFunctions}, or limit a queue of theirs.`,
    2,
  )
}

/** The limits of queues and functions, by the names that scheduler and store have for them. */
export function limitsOf({
  throttles,
  routes,
}: {
  readonly throttles: ReadonlyMap<string, Throttle>
  readonly routes: LimitedRoutes
}): ReadonlyMap<string, Throttle> {
  const limits = new Map(throttles)
  for (const [fn, { limit }] of routes) {
    if (!limit) continue
    const { per, ...throttle } = limit
    limits.set(functionLimit(fn), { ...throttle, ...(per !== undefined && { isPerTurn: true }) })
  }
  return limits
}
