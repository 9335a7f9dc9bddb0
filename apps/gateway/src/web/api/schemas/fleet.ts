import { Type } from '@sinclair/typebox'
import { counted, oneOf, orNull, strict, text, word, words } from '../endpoint.ts'
import {
  count,
  cursor,
  limit,
  nextCursor,
  progress,
  seconds,
  sortOrder,
  timeOrNull,
} from './common.ts'

export const connection = strict({
  door: Type.String(),
  address: Type.String(),
  client_id: word('The name that the client gave itself'),
  functions: words('Its functions; none for a client'),
  functions_total: count,
})

const workerSorts = ['held', 'beat'] as const
export type WorkerSort = (typeof workerSorts)[number]

/** Longest page of workers, and how many of its jobs a worker on it shows; a page of more than a hundred shows one. */
export const workerPage = { max: 1_000, usual: 50, jobs: 5, longPage: 100 } as const

/** Workers, and batches by a count, that are sorted: a list in such an order ends after so many. */
export const maxSorted = 1_000

const nodeName = text('A node of listNodes', 64)

export const workerId = Type.String({
  pattern: '^[0-9a-zA-Z-]{1,64}:[gf][0-9]{1,15}$',
  description: 'The id of a worker as listWorkers names it',
})

export const workerQuery = strict({
  node: Type.Optional(nodeName),
  function: Type.Optional(text('Only workers that named this function, or have a job of it', 512)),
  queue: Type.Optional(text('Only workers that fetch from this queue, or have a job of it', 255)),
  busy: Type.Optional(Type.Boolean({ description: 'Only workers with a job, or without one' })),
  sort: Type.Optional(
    oneOf(
      workerSorts,
      `What workers are in the order of: how long they have had their oldest job, or the time since their last beat; the first ${maxSorted}. By gateway`,
    ),
  ),
  order: sortOrder('Shortest or longest first. desc'),
  limit,
  cursor,
})

const held = strict({
  id: word('The id of the job'),
  function: Type.String(),
  queue: Type.String(),
  since: Type.String({ format: 'date-time', description: 'When its worker got it' }),
  progress: orNull(progress),
})

const identity = {
  worker: word('Its id in the API'),
  node: word('The gateway at which it is connected'),
  door: Type.String(),
  name: word('What it calls itself: a Gearman client id or a Faktory wid'),
  wid: orNull(Type.String()),
  address: orNull(Type.String(), 'Address and port of its first connection'),
  hostname: orNull(Type.String()),
  pid: orNull(Type.Integer()),
} as const

const worker = {
  ...identity,
  labels: words(),
  state: oneOf(['running', 'quiet', 'terminate'] as const),
  functions: words('Functions that it named, at most 100'),
  functions_total: count,
  queues: words('Queues that it fetches from, at most 100'),
  rss_kb: count,
  connections: count,
  seconds_since_beat: orNull(seconds),
  jobs_total: count,
  jobs: Type.Array(held, {
    description: 'Some of its jobs, the oldest first; listJobs has those of native workers',
  }),
} as const

/** A job's worker. */
export const jobWorker = strict(identity)

export const workers = strict({
  doors: Type.Array(
    strict({ door: Type.String(), clients: count, bytes_in: count, bytes_out: count }),
    { description: 'Connections that are not workers, by door' },
  ),
  functions: Type.Array(
    strict({ function: Type.String(), door: Type.String(), idle: count, busy: count }),
    { description: 'Workers by the functions that they named' },
  ),
  queues: Type.Array(strict({ queue: Type.String(), idle: count, busy: count }), {
    description: 'Consumers by the queues that they fetch from',
  }),
  workers: Type.Array(strict(worker), { description: 'Workers one by one, by node' }),
  total: counted('Workers on all pages'),
  silent_nodes: words('Gateways that did not answer within a second: their workers are missing'),
  cursor: nextCursor,
})

export const oneWorker = strict({ ...worker, cursor: nextCursor })

export const connections = strict({
  connections: Type.Array(connection, { description: 'Gearman connections of this gateway' }),
  total: count,
  cursor: nextCursor,
})

export const nodes = strict({
  nodes: Type.Array(
    strict({
      node: Type.String(),
      last_beat_seconds: seconds,
      is_this: Type.Boolean(),
      answers: Type.Boolean({ description: 'False: all that follows is null' }),
      host: orNull(Type.String()),
      pid: orNull(Type.Integer()),
      version: orNull(Type.String()),
      uptime_seconds: orNull(seconds),
      doors: orNull(Type.Array(strict({ door: Type.String(), address: Type.String() }))),
      workers: orNull(count),
      jobs: orNull(count, 'Jobs that its workers have'),
    }),
  ),
})

export const cron = strict({
  cron: Type.Array(
    strict({
      name: Type.String(),
      source: oneOf(['file', 'added'] as const),
      is_paused: Type.Boolean(),
      schedule: Type.String(),
      timezone: Type.String(),
      job: Type.Unknown(),
      last_run: timeOrNull,
      next_run: orNull(Type.String(), 'Null while it is paused, or when it is over'),
    }),
  ),
})

const callback = oneOf(['none', 'pushed', 'done', 'failed'] as const)

export const batch = strict({
  batch: Type.String(),
  parent: orNull(Type.String()),
  description: Type.String(),
  created_at: timeOrNull,
  total: count,
  pending: count,
  failed: count,
  complete: callback,
  success: callback,
})

const batchSorts = ['made', 'total', 'pending', 'failed'] as const
export type BatchCount = Exclude<(typeof batchSorts)[number], 'made'>

export const batchQuery = strict({
  sort: Type.Optional(
    oneOf(batchSorts, `What batches are in the order of; a count: the newest ${maxSorted}. made`),
  ),
  order: sortOrder('Oldest or newest first, least or most. desc'),
  limit,
  cursor,
})

export const batchPage = strict({
  batches: Type.Array(batch, { description: 'Of the last 10,000, the newest first' }),
  cursor: nextCursor,
})

export const migrations = strict({
  migrations: Type.Array(
    strict({
      migration: Type.String(),
      noted_seconds_ago: seconds,
      fields: Type.Record(Type.String(), Type.String()),
    }),
    { description: 'The latest progress first' },
  ),
})

export const migration = strict({
  migration: Type.String(),
  fields: Type.Record(Type.String(), Type.String(), {
    description: 'The last note of crossgear migrate',
  }),
})
