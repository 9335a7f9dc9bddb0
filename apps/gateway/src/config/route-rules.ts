import { bandOf, type JobTerms, type Level, type NewJob } from '@crossgear/core-scheduler'
import {
  type Backoff,
  backoffBounds,
  type GrowingWait,
  usualGrowth,
  wordsOf,
} from '../bridge/backoff.ts'
import { maxPathParts, readPayload, valueAt } from '../bridge/payload-path.ts'
import { isTable, isWord, type Table, wholeFrom } from './table-fields.ts'
import { isWhole, type TableField } from './value-kinds.ts'

/** Most rules of a route. */
export const maxRules = 16
const maxPathLength = 256

/** The terms of a job's runs, as a route or one of its rules gives them. */
export interface RunTerms {
  /** Retries after the first run. */
  readonly retries?: number
  readonly backoff?: Backoff
  readonly timeoutSeconds?: number
}

/** Terms for some of a function's jobs. */
export interface RouteRule extends RunTerms {
  /** Jobs of this level, or of this band. */
  readonly level?: Level | 'high' | 'normal' | 'low'
  /** Jobs whose payload is JSON with this value at this path. */
  readonly path?: readonly string[]
  readonly equals?: string | number | boolean
}

const isSeconds = (value: unknown): boolean => isWhole(value, 0, backoffBounds.maxSeconds)

function isGrowth(value: unknown): boolean {
  if (!isTable(value)) return false
  const { max = usualGrowth.max, ...steps } = value
  const [[kind, step] = [], ...others] = Object.entries(steps)
  const isKind = kind === 'linear' || kind === 'exponential'
  return isKind && others.length === 0 && isSeconds(step) && step !== 0 && isSeconds(max)
}

function isWaits(value: unknown): boolean {
  if (!Array.isArray(value)) return isSeconds(value)
  return value.length > 0 && value.length <= backoffBounds.maxListed && value.every(isSeconds)
}

/** Fields of a route, and of its rules, for the runs of its jobs. */
export const runFields: Readonly<Record<string, TableField>> = {
  retries: wholeFrom(0, 1_000_000),
  backoff: {
    expected: `faktory, linear, exponential, a whole number of seconds up to ${backoffBounds.maxSeconds}, a list of 1 to ${backoffBounds.maxListed} of them, or a table such as { exponential = 10, max = 3600 }`,
    accepts: (value) =>
      isWord(value, ['faktory', 'linear', 'exponential']) || isWaits(value) || isGrowth(value),
  },
  timeout: wholeFrom(1, 86_400, 'a whole number of seconds'),
}

/** Fields of a rule. */
export const ruleFields: Readonly<Record<string, TableField>> = {
  level: {
    expected: 'high, normal, low, or a level from 1 to 9',
    accepts: (value) => isWord(value, ['high', 'normal', 'low']) || isWhole(value, 1, 9),
  },
  path: {
    expected: `1 to ${maxPathParts} names with dots between them, at most ${maxPathLength} characters`,
    accepts: (value) =>
      typeof value === 'string' &&
      value.length <= maxPathLength &&
      value.split('.').length <= maxPathParts &&
      !value.split('.').includes(''),
  },
  equals: {
    expected: 'a text, a number, true or false',
    accepts: (value) => ['string', 'number', 'boolean'].includes(typeof value),
  },
  ...runFields,
}

/** Why a rule can have no effect; undefined for a sound one. */
export function faultOfRule(rule: Table): string | undefined {
  const { level, path, equals } = rule
  if ((path === undefined) !== (equals === undefined)) return 'needs both path and equals'
  if (level === undefined && path === undefined)
    return 'says not when: give level, or path and equals'
  if (!Object.keys(runFields).some((name) => rule[name] !== undefined))
    return `changes nothing: give any of ${Object.keys(runFields).join(', ')}`
  return undefined
}

/** The checked terms of a table. */
export function runTermsOf({ retries, backoff, timeout }: Table): RunTerms {
  return {
    ...(retries !== undefined && { retries: retries as number }),
    ...(backoff !== undefined && { backoff: backoffOf(backoff) }),
    ...(timeout !== undefined && { timeoutSeconds: timeout as number }),
  }
}

/** A checked rule. */
export function ruleOf(table: Table): RouteRule {
  const { level, path, equals } = table
  return {
    ...runTermsOf(table),
    ...(level !== undefined && { level: level as NonNullable<RouteRule['level']> }),
    ...(typeof path === 'string' && { path: path.split('.') }),
    ...(equals !== undefined && { equals: equals as NonNullable<RouteRule['equals']> }),
  }
}

function backoffOf(value: unknown): Backoff {
  if (value === 'faktory') return value
  if (typeof value === 'number') return [value]
  if (Array.isArray(value)) return value as readonly number[]
  if (typeof value === 'string') return { kind: value as GrowingWait['kind'], ...usualGrowth }
  const { max = usualGrowth.max, ...steps } = value as Readonly<Record<string, number>>
  const [[kind, step] = ['', 0]] = Object.entries(steps)
  return { kind: kind as GrowingWait['kind'], step, max }
}

/** Terms in the scheduler's form. */
export function jobTermsOf({ retries, backoff, timeoutSeconds }: RunTerms): JobTerms {
  return {
    ...(retries !== undefined && { retries }),
    ...(backoff !== undefined && { backoff: wordsOf(backoff) }),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
  }
}

/** The terms of the first rule that holds for a job. Its payload is read once, if a rule asks for it. */
export function termsByRules(rules: readonly RouteRule[]): (job: NewJob) => JobTerms | undefined {
  const terms = rules.map(jobTermsOf)
  return ({ level, input }) => {
    let json: unknown
    let isRead = false
    const holds = (rule: RouteRule): boolean => {
      if (rule.level !== undefined && rule.level !== level && rule.level !== bandOf(level))
        return false
      if (rule.path === undefined) return true
      if (!isRead) json = readPayload(input)
      isRead = true
      return valueAt(json, rule.path) === rule.equals
    }
    return terms[rules.findIndex(holds)]
  }
}
