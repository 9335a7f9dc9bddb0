import type { Throttle } from '@crossgear/core-scheduler'
import { isQueueName } from '@crossgear/fwp-codec'
import * as v from 'valibot'
import { StartError } from '../lifecycle/start-error.ts'
import { closest } from './closest.ts'
import { isTable } from './routes.ts'

const count = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000))

const fields: Record<string, { readonly expected: string; readonly schema: v.GenericSchema }> = {
  concurrency: { expected: 'a whole number from 1 to 100000', schema: count },
  rate: { expected: 'a whole number from 1 to 100000', schema: count },
  seconds: {
    expected: 'a number of seconds, above 0 and at most 86400',
    schema: v.pipe(v.number(), v.minValue(0.001), v.maxValue(86_400)),
  },
}

/** Reads the tables `[throttles.<queue>]` of the file: `concurrency`, and `rate` per `seconds` (1). */
export function readThrottles(throttles: unknown, file: string): ReadonlyMap<string, Throttle> {
  if (throttles === undefined) return new Map()
  if (!isTable(throttles)) {
    throw new StartError(`throttles in ${file} is no table: write [throttles.<queue>].`, 2)
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
    throw new StartError(`${place} in ${file} is no table: write [${place}].`, 2)
  }
  for (const [key, given] of Object.entries(value)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (!field) {
      const advice = closest(key, Object.keys(fields)) ?? Object.keys(fields).join(', ')
      throw new StartError(`${place}.${key} in ${file} is unknown: use ${advice}.`, 2)
    }
    if (!v.is(field.schema, given)) {
      const shown = JSON.stringify(given)
      throw new StartError(`${place}.${key} in ${file} is ${shown}: give ${field.expected}.`, 2)
    }
  }
  const { concurrency, rate, seconds = 1 } = value as Readonly<Partial<Record<string, number>>>
  if (concurrency === undefined && rate === undefined) {
    throw new StartError(`${place} in ${file} limits nothing: give concurrency or rate.`, 2)
  }
  return {
    ...(concurrency !== undefined && { concurrency }),
    ...(rate !== undefined && { rate: { jobs: rate, perMs: Math.round(seconds * 1000) } }),
  }
}
