import { Type } from '@sinclair/typebox'
import { counted, oneOf, orNull, strict, text, word, words } from '../endpoint.ts'
import { lately } from './history.ts'
import {
  count,
  cursor,
  functionName,
  limit,
  nextCursor,
  queueName,
  seconds,
  sortOrder,
  takenAt,
} from './common.ts'
import { waitsFor } from './waits.ts'

const standing = {
  waiting: count,
  running: count,
  scheduled: counted('Due for the first time'),
  retry: counted('Due for another try'),
  dead: count,
  oldest_waiting_seconds: seconds,
} as const

/** Counters; what has ended, is dead, waits, runs or is due adds up to what was submitted. */
export const totals = {
  submitted_total: counted('Jobs that came, without those that were moved to another queue'),
  completed_total: count,
  failed_total: counted('Jobs that failed for good and are not, or no longer, kept'),
  lost_total: counted('Jobs given up because too many workers vanished with them, and not kept'),
  expired_total: counted('Jobs dropped without a run: too late, or no client waited any more'),
  cancelled_total: counted('Jobs that an operator cancelled'),
  deleted_total: counted('Jobs that an operator deleted, also with a queue or a function'),
  died_total: counted('How often a job failed for good and was kept among the dead'),
  retried_total: counted('Failed runs after which the job was due again'),
  moved_total: counted('Jobs that an operator moved to another queue'),
  requeued_total: counted('How often an operator put a scheduled or dead job into its queue'),
  killed_total: counted('Scheduled jobs that an operator put among the dead'),
} as const

export type TotalName = keyof typeof totals

const listProperties = {
  contains: Type.Optional(text('A part of the name', 255)),
  order: sortOrder('Least or most first. asc'),
  limit,
  cursor,
}
const queueSorts = ['name', 'waiting', 'running', 'scheduled', 'retry', 'dead', 'oldest'] as const
export const functionSorts = [...queueSorts, 'workers'] as const

export const queueQuery = strict({
  ...listProperties,
  sort: Type.Optional(oneOf(queueSorts, 'What queues are in the order of. name')),
})
export const functionQuery = strict({
  ...listProperties,
  sort: Type.Optional(oneOf(functionSorts, 'What functions are in the order of. name')),
})

const workers = counted('Workers of all nodes that may get its jobs, native ones too')

export const functionEntry = strict({
  function: Type.String(),
  queue: word('The queue of this entry; a function has an entry for each of its queues'),
  lane: Type.String(),
  ...standing,
  workers,
  ...totals,
  openness: oneOf(
    ['open', 'auto', 'closed', 'shut', 'unrouted'] as const,
    'If Faktory consumers get its jobs: for good, by the automatic rule, not because of workers by name, not by an operator, not since --bridge-faktory is routed',
  ),
  is_paused: Type.Boolean({ description: 'Its queue is paused: consumers get no jobs of it' }),
  is_function_paused: Type.Boolean({ description: 'No worker at a gateway gets its jobs' }),
  waits_for: waitsFor,
})

export const functionPage = strict({
  at: takenAt,
  functions: Type.Array(functionEntry),
  total: counted('Entries on all pages'),
  cursor: nextCursor,
})

export const queueEntry = strict({
  queue: Type.String(),
  functions: count,
  ...standing,
  is_paused: Type.Boolean({ description: 'Consumers get no jobs of it' }),
  waits_for: waitsFor,
})

export const queuePage = strict({
  queues: Type.Array(queueEntry),
  total: count,
  cursor: nextCursor,
})

export const scaleQuery = strict({ function: functionName, queue: Type.Optional(queueName) })

export const scale = strict({
  function: Type.String(),
  waiting: count,
  running: count,
  scheduled: counted('Due for the first time or for another try'),
  oldest_seconds: seconds,
  workers,
})

export const overview = strict({
  at: takenAt,
  node: word('The node that answers'),
  version: Type.String(),
  functions: count,
  queues: count,
  nodes: count,
  ...standing,
  ...totals,
  busiest: Type.Array(functionEntry, { description: 'Functions with the most to do' }),
  paused_queues: words(),
  paused_functions: words(),
})

const limitFigures = {
  concurrency: orNull(count, 'Jobs at a time'),
  rate_jobs: orNull(count),
  rate_seconds: orNull(seconds),
}

const throttle = strict({
  queue: Type.String(),
  ...limitFigures,
  per_worker: orNull(count, 'Jobs at a time of one worker'),
  timeout_seconds: orNull(seconds),
})

export const throttles = strict({ throttles: Type.Array(throttle) })

/** Entries of a function or a queue that are listed: those with the most to do. */
export const maxEntries = 200

const limits = strict({
  high: counted(
    'Its jobs, running ones too, from which one of high priority is refused; 0: any number',
  ),
  normal: count,
  low: count,
  max_waiting: orNull(count, 'Waiting jobs from which one is refused, by its route'),
  without_workers: oneOf(['accept', 'refuse'] as const, 'What its route does without a worker'),
  max_age_seconds: orNull(seconds, 'How long a job may wait, by its route'),
})

export const oneFunction = strict({
  at: takenAt,
  function: Type.String(),
  limits,
  ...standing,
  waits_for: waitsFor,
  workers,
  ...totals,
  ...lately.properties,
  limit: orNull(
    strict({ ...limitFigures, per: orNull(Type.String(), 'The key of whose values each has it') }),
    'The limit of its route',
  ),
  entries: Type.Array(functionEntry, {
    description: 'One for each of its queues; of more than 200 those with the most to do',
  }),
  entries_total: count,
})

export const oneQueue = strict({
  at: takenAt,
  queue: Type.String(),
  ...standing,
  waits_for: waitsFor,
  ...totals,
  ...lately.properties,
  is_paused: Type.Boolean({ description: 'Consumers get no jobs of it' }),
  throttle: orNull(throttle),
  entries: Type.Array(functionEntry, {
    description: 'One for each of its functions; of more than 200 those with the most to do',
  }),
  entries_total: count,
})
