import type { Throttle } from '@crossgear/core-scheduler'
import { isQueueName } from '@crossgear/fwp-codec'
import { StartError } from '../errors.ts'
import { isTable, type TableField } from './routes.ts'
import { closest } from './unknown-variables.ts'
import { isWhole } from './value-kinds.ts'

const count: TableField = {
  expected: 'a whole number from 1 to 100000',
  accepts: (value) => isWhole(value, 1, 100_000),
}

const seconds: TableField = {
  expected: 'a number of seconds, above 0 and at most 86400',
  accepts: (value) => typeof value === 'number' && value >= 0.001 && value <= 86_400,
}

const fields: Readonly<Record<string, TableField>> = {
  ...{ concurrency: count, worker: count, timeout: seconds, rate: count, seconds },
}

/**
 * Reads the tables `[throttles.<queue>]` of the file: `concurrency` and `worker`, both with
 * `timeout`, as in Faktory Enterprise, and `rate` per `seconds` (1).
 */
export function readThrottles(throttles: unknown, file: string): ReadonlyMap<string, Throttle> {
  if (throttles === undefined) return new Map()
  if (!isTable(throttles)) {
    throw new StartError(`throttles in ${file} is not a table: write [throttles.<queue>].`, 2)
  }
  return new Map(
    Object.entries(throttles).map(([queue, value]) => [queue, readThrottle(queue, value, file)]),
  )
}

function readThrottle(queue: string, value: unknown, file: string): Throttle {
  const place = `throttles.${queue}`
  if (!isQueueName(queue)) {
    throw new StartError(
      `${place} in ${file} is for no queue: give a queue name of letters, digits, dot, underscore and hyphen.`,
      2,
    )
  }
  if (!isTable(value)) {
    throw new StartError(`${place} in ${file} is not a table: write [${place}].`, 2)
  }
  for (const [key, given] of Object.entries(value)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (!field) {
      const advice = closest(key, Object.keys(fields)) ?? Object.keys(fields).join(', ')
      throw new StartError(`${place}.${key} in ${file} is unknown: use ${advice}.`, 2)
    }
    if (!field.accepts(given)) {
      const shown = JSON.stringify(given)
      throw new StartError(`${place}.${key} in ${file} is ${shown}: give ${field.expected}.`, 2)
    }
  }
  const given = value as Readonly<Partial<Record<string, number>>>
  const { concurrency, worker, timeout, rate, seconds: perSeconds = 1 } = given
  const limitsSlots = concurrency !== undefined || worker !== undefined
  if (!limitsSlots && rate === undefined) {
    throw new StartError(`${place} in ${file} sets no limit: give concurrency, worker or rate.`, 2)
  }
  if (!limitsSlots && timeout !== undefined) {
    throw new StartError(
      `${place}.timeout in ${file} has no effect alone: give concurrency or worker with it.`,
      2,
    )
  }
  return {
    ...(concurrency !== undefined && { concurrency }),
    ...(worker !== undefined && { perWorker: worker }),
    ...(timeout !== undefined && { timeoutMs: Math.round(timeout * 1000) }),
    ...(rate !== undefined && { rate: { jobs: rate, perMs: Math.round(perSeconds * 1000) } }),
  }
}
