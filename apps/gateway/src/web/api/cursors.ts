import { ApiError } from './api-error.ts'

/** A cursor is opaque to clients: whole numbers, one behind the other. */
export function cursorOf(numbers: readonly number[]): string {
  return Buffer.from(numbers.join('.')).toString('base64url')
}

/** The numbers of a cursor, as many as were put in. Throws an ApiError for any other text. */
export function numbersOf(cursor: string, count: number): readonly number[] {
  const numbers = Buffer.from(cursor, 'base64url').toString('latin1').split('.')
  if (numbers.length !== count || !numbers.every((number) => /^\d{1,15}$/.test(number))) {
    throw new ApiError('invalid_cursor', 'the cursor is none that this list gave')
  }
  return numbers.map(Number)
}

/** One page of a list that is in memory as a whole. */
export function pageOf<Entry>(
  entries: readonly Entry[],
  { limit = 50, cursor }: { readonly limit?: number; readonly cursor?: string },
): { readonly page: readonly Entry[]; readonly total: number; readonly cursor: string | null } {
  const [from = 0] = cursor === undefined ? [] : numbersOf(cursor, 1)
  const page = entries.slice(from, from + limit)
  const next = from + page.length
  return { page, total: entries.length, cursor: next < entries.length ? cursorOf([next]) : null }
}
