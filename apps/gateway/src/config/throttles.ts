import type { Throttle } from '@crossgear/core-scheduler'
import { isQueueName } from '@crossgear/fwp-codec'
import { StartError } from '../errors.ts'
import { readSection, wholeFrom } from './table-fields.ts'
import type { TableField } from './value-kinds.ts'

const count = wholeFrom(1, 100_000)

const seconds: TableField = {
  expected: 'a number of seconds, above 0 and at most 86400',
  accepts: (value) => typeof value === 'number' && value >= 0.001 && value <= 86_400,
}

const fields: Readonly<Record<string, TableField>> = {
  concurrency: count,
  worker: count,
  timeout: seconds,
  rate: count,
  seconds,
}

/**
 * Reads the tables `[throttles.<queue>]` of the file: `concurrency` and `worker`, both with
 * `timeout`, as in Faktory Enterprise, and `rate` per `seconds` (1).
 */
export function readThrottles(throttles: unknown, file: string): ReadonlyMap<string, Throttle> {
  const section = { name: 'throttles', of: 'queue', fields, nameFault }
  return new Map(
    readSection(throttles, section, file).map(([queue, table]) => [
      queue,
      throttleOf(table as Given, `throttles.${queue}`, file),
    ]),
  )
}

function nameFault(queue: string): string | undefined {
  if (isQueueName(queue)) return undefined
  return 'is for no queue: give a queue name of letters, digits, dot, underscore and hyphen'
}

type Given = Readonly<Partial<Record<string, number>>>

function throttleOf(given: Given, place: string, file: string): Throttle {
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
