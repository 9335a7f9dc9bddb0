import { Type } from '@sinclair/typebox'
import { oneOf, orNull, strict, text, word } from '../endpoint.ts'

/** Entries on one page of a list, and the most that may be asked for. */
export const pageSizes = { usual: 50, max: 1_000 } as const

export const jobStates = ['waiting', 'running', 'scheduled', 'retry', 'dead'] as const
export type ListedState = (typeof jobStates)[number]

/** How many entries a call has. */
export function limitOf(
  { usual, max }: { readonly usual: number; readonly max: number },
  description = 'Entries on the page',
) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum: max, default: usual, description }))
}

export const limit = limitOf(pageSizes)
export const cursor = Type.Optional(text('The cursor of the previous answer', 512, 0))
export const nextCursor = orNull(Type.String(), 'Where to go on; null where that was all')

/** The order of a list, whose entries have a time, and the words for it. */
export type SortOrder = 'asc' | 'desc'
export function sortOrder(description: string) {
  return Type.Optional(oneOf(['asc', 'desc'] as const, description))
}

export const functionName = text('A function, which is a Faktory jobtype', 512)
export const queueName = Type.String({
  pattern: '^[a-zA-Z0-9._-]{1,255}$',
  description: 'A Faktory queue',
})

const format = 'date-time'
export const timeOrNull = orNull(Type.String({ format, description: 'A time, RFC 3339' }))
export const takenAt = Type.String({
  format,
  description: "When the figures were taken, by the store's clock",
})
export const count = Type.Integer({ minimum: 0 })
export const seconds = Type.Number({ minimum: 0 })

/** Jobs that were left as they are. */
export function byReason(description: string) {
  return Type.Array(strict({ reason: Type.String(), jobs: count }), { description })
}

export const progress = strict({
  done: orNull(Type.Number()),
  total: orNull(Type.Number()),
  percent: orNull(Type.Number()),
  note: orNull(Type.String(), 'What its worker noted last'),
  noted_at: timeOrNull,
})

export const apiError = strict({
  error: strict({
    code: word('A fixed code; docs/reference/api.md lists all'),
    message: word('The error in words'),
  }),
})

export function isoTime(ms: number | undefined): string | null {
  return ms === undefined || !Number.isFinite(ms) || Math.abs(ms) > 8.64e15
    ? null
    : new Date(ms).toISOString()
}
