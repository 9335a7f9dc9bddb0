import { type Static, Type } from '@sinclair/typebox'
import { oneOf, orNull, strict, text, word, words } from '../endpoint.ts'
import { byReason, count, functionName, limitOf, nextCursor, queueName } from './common.ts'
import { jobFilter, jobId } from './jobs.ts'

/** Most jobs that one call changes. */
export const actBounds = { usual: 500, max: 1_000 } as const

const selection = {
  jobs: Type.Optional(
    Type.Array(jobId, { minItems: 1, maxItems: actBounds.max, description: 'These jobs' }),
  ),
  filter: Type.Optional(jobFilter),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Only count the jobs, and change nothing. false' }),
  ),
  limit: limitOf(actBounds, 'Most jobs that one call changes'),
  cursor: Type.Optional(Type.String({ maxLength: 512 })),
}

export const selected = strict(selection, 'Jobs by their names, or all that a filter takes')
export type Selection = Static<typeof selected>
export const moved = strict({ ...selection, to_queue: queueName })

export const actResult = strict({
  dry_run: Type.Boolean(),
  matched: Type.Integer({ description: 'Jobs of this piece that match' }),
  done: Type.Integer({ description: 'Jobs that were changed, or with dry_run would be' }),
  skipped: byReason('Jobs that were not changed, by reason'),
  unknown: words('Of the names in `jobs`: those that no job has'),
  looked_at: count,
  total: orNull(count, 'Jobs of all pieces; null where they must be looked at to be counted'),
  cursor: nextCursor,
})

export const deleteResult = strict({
  ...actResult.properties,
  undo: orNull(
    Type.String(),
    'The name of the records of deleted jobs, which are kept for a day: restoreJobs takes it',
  ),
  no_undo: orNull(Type.String(), 'Why it, or a part of it, cannot be undone'),
  act: orNull(
    Type.String(),
    'Its name, where a filter chose the jobs: a drop of their queue or function that names it is one act with it',
  ),
})

/** Records that one call puts back. */
const maxRestored = 20

export const restored = strict({
  undo: Type.Array(Type.String({ pattern: '^[A-Za-z0-9_-]{12}(\\.\\d{1,6})?$' }), {
    minItems: 1,
    maxItems: maxRestored,
    description: 'Names that deletions gave, which only who deleted and admins know',
  }),
})

const payload = Type.Union(
  [
    strict({ text: Type.String() }),
    strict({ json: Type.Unknown() }),
    strict({ base64: Type.String({ pattern: '^[A-Za-z0-9+/]*={0,2}$' }) }),
  ],
  { description: 'A text, any JSON, or bytes in base 64' },
)

const terms = {
  queue: Type.Optional(queueName),
  level: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 9, description: 'Faktory priority. 5' }),
  ),
  delay_seconds: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 3_153_600_000,
      description: 'Delay until the job is due. 0',
    }),
  ),
}

export const newJob = strict({
  function: functionName,
  ...terms,
  payload: Type.Optional(payload),
  unique: Type.Optional(text('The job joins an unfinished one with this id', 64)),
  retries: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Retries after a failure. 0' }),
  ),
})

export const resubmission = strict({ ...terms, payload: Type.Optional(payload) })
export const replacement = strict({
  level: terms.level,
  delay_seconds: terms.delay_seconds,
  payload: Type.Optional(payload),
})
export type PayloadGiven = Static<typeof payload>

export const submittedJob = strict({
  job: word('The id of the job'),
  handle: Type.String(),
  result: oneOf(['created', 'joined'] as const, 'joined: with one that has its unique id'),
})

const some = (schema: typeof functionName) => Type.Array(schema, { minItems: 1, maxItems: 100 })

const entryName = text('A cron entry, as the list of them names it', 255)
export const cronEntry = strict({ entry: entryName })
export const cronEntries = strict({ entries: some(entryName) })

export const cronGiven = strict({
  name: entryName,
  schedule: text(
    'Five fields of cron, six with leading seconds, or a nickname such as @daily',
    255,
  ),
  timezone: Type.Optional(text('An IANA name. UTC', 255)),
  job: Type.Object({}, { description: 'A Faktory job: its type, args, queue and more' }),
})

export const queueNames = strict({ queues: some(queueName) })
export const functionNames = strict({ functions: some(functionName) })

const after = Type.Optional(
  Type.String({
    pattern: '^[A-Za-z0-9_-]{12}$',
    description: 'The act of the deletion of its jobs: the audit has one entry for both',
  }),
)
export const queuesDropped = strict({ ...queueNames.properties, after })
export const functionsDropped = strict({ ...functionNames.properties, after })

export const queuesDone = strict({ queues: words() })
export const queuesPaused = strict({
  queues: words(),
  unknown: words('those to which no job has come so far'),
})
export const functionsDone = strict({ functions: words() })

const max = Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: '0: any number' })

export const limits = strict({ function: functionName, high: max, normal: max, low: max })

export const order = strict({
  wid: Type.String({ pattern: '^[^\\u0000]{1,255}$', description: 'A Faktory worker, or all' }),
  signal: oneOf(['quiet', 'terminate'] as const),
})
