import { type Static, Type } from '@sinclair/typebox'
import { attemptBounds } from '../../../bridge/attempts.ts'
import { doorsOfJobs } from '../../../doors/names.ts'
import { oneOf, orNull, strict, text, word, words } from '../endpoint.ts'
import {
  count,
  cursor,
  functionName,
  jobStates,
  limit,
  nextCursor,
  progress,
  queueName,
  seconds,
  timeOrNull,
} from './common.ts'
import { jobWorker } from './fleet.ts'
import { waitsFor } from './waits.ts'

export const jobId = text(
  'The id of a job as the API names it, its Gearman handle or its Faktory jid',
  255,
)

/** Characters of the kind and of the first line of an error by which failures are grouped. */
export const failureBounds = { type: 255, line: 300, functions: 5 } as const

const filterProperties = {
  function: Type.Optional(functionName),
  queue: Type.Optional(queueName),
  state: Type.Optional(oneOf(jobStates, 'Where jobs stand. Any.')),
  door: Type.Optional(oneOf(doorsOfJobs, 'The protocol by which jobs came. Any.')),
  older_than_seconds: Type.Optional(
    Type.Number({ minimum: 0, description: 'Queued at least this long ago' }),
  ),
  newer_than_seconds: Type.Optional(
    Type.Number({ minimum: 0, description: 'Queued at most this long ago' }),
  ),
  unique: Type.Optional(text('The whole Gearman unique id', 255)),
  jid: Type.Optional(text('The whole Faktory jid', 255)),
  handle: Type.Optional(text('The whole Gearman handle', 64)),
  batch: Type.Optional(text('The bid of the batch that jobs are part of', 255)),
  error_type: Type.Optional(
    text('The whole kind of the error, such as TimeoutError; empty: none', failureBounds.type, 0),
  ),
  error_line: Type.Optional(
    text(
      'The whole first line of the error, as listFailures has it; empty: none',
      failureBounds.line,
      0,
    ),
  ),
  text: Type.Optional(
    text('Bytes in the payload or the error; long payloads are not searched', 128),
  ),
}

export const jobFilter = strict(filterProperties, 'Which jobs. All.')
export type JobFilter = Static<typeof jobFilter>

/** Characters of a payload that a list shows. */
export const startLength = 80

export const jobQuery = strict({
  ...filterProperties,
  payload_start: Type.Optional(
    Type.Boolean({ description: 'With the first 80 characters of each payload. false' }),
  ),
  order: Type.Optional(
    oneOf(
      ['asc', 'desc'] as const,
      'By time, over all functions: dead jobs by their death, scheduled ones and retries by when they are due; with one of these states and without text. Function by function',
    ),
  ),
  limit,
  cursor,
})

const failure = strict({
  type: orNull(Type.String()),
  message: orNull(Type.String()),
  failed_at: orNull(Type.String()),
  next_at: orNull(Type.String()),
  retry_count: orNull(Type.Integer()),
  backtrace: words('At most 100 lines; of a list the first 10, cut'),
})

const summary = {
  id: word('Its name in the API'),
  handle: word('Its name for Gearman clients'),
  jid: orNull(Type.String(), 'What its Faktory producer calls it'),
  function: Type.String(),
  queue: Type.String(),
  state: oneOf([...jobStates, 'succeeded', 'failed'] as const),
  door: word(`Such as ${doorsOfJobs.join(', ')}`),
  level: Type.Integer({ minimum: 1, maximum: 9, description: 'Faktory priority' }),
  unique: orNull(Type.String()),
  enqueued_at: orNull(
    Type.String({ format: 'date-time' }),
    'When it came; later tries do not change it',
  ),
  due_at: timeOrNull,
  reserved_until: orNull(Type.String(), 'Null also where its worker keeps it while connected'),
  forgotten_at: timeOrNull,
  died_at: orNull(Type.String(), "By the store's clock"),
  lost_workers: Type.Integer({ description: 'Workers that vanished while they had it' }),
  retries: orNull(
    Type.Integer(),
    'Retries after a failure, 25 where a Faktory producer gave none; null: the failure is final',
  ),
  foreground: Type.Boolean({ description: 'Only run while a client waits' }),
  waiting_clients: count,
  progress: orNull(progress),
  waits_for: waitsFor,
  error: orNull(failure),
} as const

export const jobSummary = strict(summary)

const listedJob = strict({
  ...summary,
  payload_start: Type.Optional(
    orNull(
      Type.String(),
      'Its first 80 characters, in hexadecimal where it is no text; null: it is too long for a list',
    ),
  ),
})

export const jobPage = strict({
  jobs: Type.Array(listedJob),
  looked_at: Type.Integer({ description: 'Jobs that were checked for this page' }),
  unsearched: Type.Integer({ description: 'Jobs whose payload is too long to be searched' }),
  cursor: nextCursor,
})

export const payloadForms = ['auto', 'text', 'json', 'hex', 'none'] as const

export const payloadQuery = strict({
  payload: Type.Optional(oneOf(payloadForms, 'How the payload is shown. auto')),
  max_payload_bytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_048_576,
      default: 65_536,
      description: 'Length at which a payload is cut',
    }),
  ),
  envelope: Type.Optional(
    Type.Boolean({ description: 'False: it is not read, and null. It does not change. true' }),
  ),
})

export const bytesShown = strict({
  size_bytes: count,
  form: oneOf(['text', 'json', 'hex', 'none'] as const),
  value: Type.Unknown({ description: 'A text, any JSON, hexadecimal digits, or null' }),
  is_cut: Type.Boolean({ description: 'The payload is longer than the value' }),
})

const attempt = strict({
  at: timeOrNull,
  type: word('The kind of the error'),
  message: word('The first line of the error, cut'),
  ran_seconds: orNull(seconds, 'How long its worker had the job; null where that is not known'),
  backtrace: words(`Its first lines, at most ${attemptBounds.backtrace}, cut`),
})

export const jobDetail = strict({
  ...summary,
  attempts: Type.Array(attempt, {
    maxItems: attemptBounds.attempts,
    description: 'Its newest failed runs, the oldest first',
  }),
  reserve_for_seconds: orNull(seconds),
  retention_seconds: orNull(seconds),
  batch: orNull(Type.String(), 'The batch that it is part of'),
  trace: orNull(Type.String(), 'The traceparent of its creation'),
  held_by: orNull(
    strict({
      kind: oneOf(['worker', 'consumer', 'native'] as const),
      node: orNull(Type.String(), 'The node that handed it out'),
      node_answers: orNull(
        Type.Boolean(),
        'False: that node is gone or silent, so that its worker is not known; null for native workers',
      ),
      worker: orNull(
        jobWorker,
        'Null for a native worker, for one that has left, and for a job that its gateway has claimed in advance',
      ),
      since: orNull(Type.String(), 'When it got the job, where its node knows'),
    }),
  ),
  queued_at: orNull(Type.String(), 'Since when it waits in its queue'),
  ended_at: orNull(Type.String(), 'When it died, or ended with an outcome that is kept'),
  run_seconds: orNull(
    seconds,
    'How long the last run took, of a job that has ended and is among the last 100 runs of its function',
  ),
  requeued_at: orNull(Type.String(), 'When an operator last put it into its queue'),
  moved_at: orNull(Type.String(), 'When an operator moved it to its queue'),
  moved_from: orNull(Type.String(), 'Its id before that, which leads to it for 7 days'),
  resubmitted_from: orNull(Type.String(), 'The id of the job that it is another run of'),
  envelope: orNull(
    Type.Unknown(),
    'The Faktory job as pushed, without its arguments; a text where it is cut, or nests too deep',
  ),
  envelope_is_cut: Type.Boolean({ description: 'It is longer than a payload may be, and cut' }),
  payload: bytesShown,
  output: orNull(bytesShown, 'Of a job that has ended and is kept'),
})
