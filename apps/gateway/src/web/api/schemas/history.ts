import { Type } from '@sinclair/typebox'
import { counted, oneOf, orNull, strict } from '../endpoint.ts'
import { count, functionName, queueName, seconds } from './common.ts'

export const historyQuery = strict({
  function: Type.Optional(functionName),
  queue: Type.Optional(queueName),
  span: Type.Optional(
    oneOf(['hour', 'day'] as const, 'The last hour by minutes, or day by hours. hour'),
  ),
})

const percentiles = (what: string) =>
  orNull(strict({ p50: seconds, p95: seconds, p99: seconds }), `${what}; null where none was`)

/** As in the overview. */
const events = {
  submitted: count,
  completed: count,
  failed: count,
  died: count,
  retried: count,
  interrupted: counted('Runs without an outcome'),
  lost: count,
  expired: count,
  cancelled: count,
  deleted: count,
  moved: count,
  requeued: count,
  killed: count,
  wait_seconds: percentiles('From due to the start of the run'),
  run_seconds: percentiles('From the start of the run to its end'),
} as const

/** The last hour of a function or queue, and its rates now. */
export const lately = strict({
  last_hour: strict(events),
  per_second: strict(
    { submitted: Type.Number(), completed: Type.Number(), failed: Type.Number() },
    'Means of the last five whole minutes; failed: for good, kept among the dead or not',
  ),
})

export const history = strict({
  span: oneOf(['hour', 'day'] as const),
  seconds: Type.Integer({ description: 'Length of a bucket' }),
  buckets: Type.Array(
    strict({
      start: Type.String({ format: 'date-time' }),
      ...events,
    }),
    { description: 'Oldest first, including those without jobs; the last one is not complete' },
  ),
})
