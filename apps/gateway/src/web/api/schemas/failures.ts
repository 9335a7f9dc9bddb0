import { Type } from '@sinclair/typebox'
import { counted, oneOf, strict, word, words } from '../endpoint.ts'
import {
  count,
  cursor,
  functionName,
  limit,
  nextCursor,
  queueName,
  sortOrder,
  timeOrNull,
} from './common.ts'
import { failureBounds } from './jobs.ts'

const failureSorts = ['jobs', 'first_failed', 'last_failed'] as const
export type FailureSort = (typeof failureSorts)[number]

export const failureQuery = strict({
  function: Type.Optional(functionName),
  queue: Type.Optional(queueName),
  state: Type.Optional(
    oneOf(['dead', 'retry'] as const, 'Jobs that failed for good, or that are tried again. dead'),
  ),
  sort: Type.Optional(oneOf(failureSorts, 'What groups are in the order of. jobs')),
  order: sortOrder('Least or most first. desc'),
  limit,
  cursor,
})

export const failures = strict({
  groups: Type.Array(
    strict({
      type: word('The kind of the error; empty: none'),
      line: word('The first line of the error, cut; empty: none'),
      jobs: count,
      functions: words(`Some of the functions, at most ${failureBounds.functions}`),
      functions_total: count,
      first_failed_at: timeOrNull,
      last_failed_at: timeOrNull,
      by_hour: Type.Array(count, {
        description: 'Jobs by the hour of their last failure: 24 hours, the present one last',
      }),
      example: word('The id of the job that failed last'),
    }),
  ),
  groups_total: count,
  jobs: counted('Failed jobs that there are'),
  counted: counted('Those of them whose error has been read'),
  ungrouped: counted('Those of them that are in no group: there are too many different errors'),
  is_current: Type.Boolean({
    description:
      'False: another call reads on, as this one has read its share. True with fewer jobs counted than there are: the others are beyond what is kept in memory',
  }),
  looked_at: counted('What this call has read'),
  cursor: nextCursor,
})
