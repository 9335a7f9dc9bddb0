import { Type } from '@sinclair/typebox'
import { oneOf, orNull, strict, text, word } from '../endpoint.ts'
import { byReason, count, cursor, limitOf, nextCursor, sortOrder, timeOrNull } from './common.ts'

/** Entries on one page, and the most that may be asked for. */
export const auditPage = { usual: 50, max: 200 } as const

export const entryId = Type.String({
  pattern: '^\\d{1,15}-\\d{1,15}$',
  description: 'An entry, as the list names it',
})

export const auditQuery = strict({
  who: Type.Optional(text('Only acts of this person, or of operator: the password', 64)),
  operation: Type.Optional(text('Only acts of this operation, verb or text command', 64)),
  since_seconds: Type.Optional(
    Type.Number({ minimum: 0, maximum: 3_153_600_000, description: 'Only acts that are no older' }),
  ),
  sort: Type.Optional(
    oneOf(
      ['time', 'jobs'] as const,
      'What acts are in the order of; jobs: of the latest 2,000. time',
    ),
  ),
  order: sortOrder('Oldest or newest first, least or most jobs. desc'),
  limit: limitOf(auditPage),
  cursor,
})

const undoStates = ['possible', 'undone', 'over', 'no'] as const

export const auditList = strict({
  entries: Type.Array(
    strict({
      entry: entryId,
      at: timeOrNull,
      who: orNull(Type.String(), 'A person, or whose password it was; null: not known'),
      door: word('The port by which it came'),
      address: Type.String(),
      node: word('The gateway that acted'),
      operation: word('An operation of the API, a verb or a text command'),
      target: word('Its words, cut where they are long'),
      jobs: orNull(count, 'Jobs that it changed; null: not counted'),
      fault: orNull(Type.String(), 'Why it may have been done in part'),
      undo: oneOf(undoStates, 'over: its day is over'),
      no_undo: orNull(Type.String(), 'Why it cannot be undone'),
    }),
  ),
  cursor: nextCursor,
})

export const undone = strict({
  restored: Type.Integer({ description: 'Jobs that are back' }),
  left: byReason('Jobs that were not put back, by reason'),
})
