import { Type } from '@sinclair/typebox'
import { oneOf, orNull, strict } from '../endpoint.ts'
import { count, nextCursor, seconds, timeOrNull } from './common.ts'

export const consumer = strict({
  wid: Type.String(),
  hostname: orNull(Type.String()),
  pid: orNull(Type.Integer()),
  labels: Type.Array(Type.String()),
  state: oneOf(['running', 'quiet', 'terminate'] as const),
  queues: Type.Array(Type.String()),
  rss_kb: count,
  jobs: count,
  connections: count,
  seconds_since_beat: count,
})

export const connection = strict({
  door: Type.String(),
  address: Type.String(),
  client_id: Type.String({ description: 'The name that the client gave itself' }),
  functions: Type.Array(Type.String(), { description: 'Its functions; none for a client' }),
  functions_total: count,
})

const fleet = {
  doors: Type.Array(
    strict({ door: Type.String(), clients: count, bytes_in: count, bytes_out: count }),
    { description: 'Connections of this gateway that are not workers, by door' },
  ),
  functions: Type.Array(
    strict({ function: Type.String(), door: Type.String(), idle: count, busy: count }),
    { description: 'Workers of this gateway, by the functions that they named' },
  ),
  queues: Type.Array(strict({ queue: Type.String(), idle: count, busy: count }), {
    description: 'Consumers of this gateway, by the queues that they fetch from',
  }),
}

export const workers = strict({
  ...fleet,
  consumers: Type.Array(consumer, { description: 'Faktory workers of this gateway with a wid' }),
  consumers_total: count,
})

export const connections = strict({
  connections: Type.Array(connection, { description: 'Gearman connections of this gateway' }),
  total: count,
  cursor: nextCursor,
})

export const nodes = strict({
  nodes: Type.Array(
    strict({ node: Type.String(), last_beat_seconds: seconds, is_this: Type.Boolean() }),
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

export const batchPage = strict({
  batches: Type.Array(batch, { description: 'The newest first, of the last 10,000' }),
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
