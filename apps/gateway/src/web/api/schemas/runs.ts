import { cronRunBounds } from '@crossgear/core-scheduler'
import { Type } from '@sinclair/typebox'
import { oneOf, orNull, strict, text, word } from '../endpoint.ts'
import { jobStates, seconds, timeOrNull } from './common.ts'

const state = orNull(
  oneOf([...jobStates, 'succeeded', 'failed'] as const),
  'Where the job is now; null: it is gone, as finished jobs are that nothing keeps',
)

const end = oneOf(
  ['completed', 'failed', 'died', 'retried', 'interrupted'] as const,
  'How the run ended. died: for good, and kept among the dead; interrupted: without an outcome',
)

export const runs = strict({
  runs: Type.Array(
    strict({
      job: word('The id of the job'),
      state,
      queue: Type.String(),
      end,
      by: oneOf(['named', 'consumer', 'native'] as const, 'The kind of its worker'),
      started_at: timeOrNull,
      ended_at: timeOrNull,
      run_seconds: orNull(
        seconds,
        'Null where another gateway than the one that ended it began it',
      ),
      error_type: orNull(Type.String()),
      error_line: orNull(Type.String(), 'The first line of the error, cut'),
    }),
  ),
})

export const cronRunsQuery = strict({
  entry: text('A cron entry, as the list of them names it', 255),
})

export const cronRuns = strict({
  runs: Type.Array(
    strict({
      at: timeOrNull,
      is_by_hand: Type.Boolean({ description: 'Somebody pushed it, outside of the schedule' }),
      job: word('The id of the job'),
      state,
      end: orNull(
        end,
        'How its last run ended; null where that is not among the last 100 runs of its function',
      ),
      ended_at: timeOrNull,
      run_seconds: orNull(seconds),
    }),
    { maxItems: cronRunBounds.kept, description: 'The newest first' },
  ),
})
