import type { FailureReport } from '@crossgear/core-scheduler'
import { formatRfc3339, parseRfc3339 } from '@crossgear/fwp-codec'

/**
 * Attempts that a record lists, characters of each one's kind and message, and lines of its backtrace. The record itself has
 * the whole backtrace of the last one.
 */
export const attemptBounds = { attempts: 10, type: 100, line: 200, backtrace: 10 } as const

/** A failed run of a job, as its record lists it. `at`: RFC 3339; absent where it is not known. */
export interface Attempt {
  readonly at?: string
  readonly errtype: string
  readonly message: string
  /** How long its worker had the job, milliseconds; absent where it is not known. */
  readonly ran_ms?: number
  readonly backtrace?: readonly string[]
}

/** Anything that a worker, another server or an older version may have written as a `failure`. */
export type ForeignRecord = Readonly<Record<string, unknown>>

/** The newest attempts of a record, the oldest first. A record without a list knows its last error. */
export function attemptsOf(record: ForeignRecord): readonly Attempt[] {
  const { attempts, retry_count: count, failed_at: at, errtype, message, backtrace } = record
  if (Array.isArray(attempts)) {
    const listed = attempts.slice(-attemptBounds.attempts)
    return listed.flatMap((attempt: ForeignRecord | null, index) =>
      attemptIn(index === listed.length - 1 ? { backtrace, ...attempt } : attempt),
    )
  }
  if (typeof errtype !== 'string' && typeof message !== 'string') return []
  // `failed_at` is the time of the first failure.
  return attemptIn({ at: (count ?? 0) === 0 ? at : undefined, errtype, message, backtrace })
}

/** The attempts of a record and the one that fails now, whose backtrace the record has. */
export function attemptsAfter(
  before: ForeignRecord,
  { errtype, message, ranMs }: FailureReport,
  nowMs: number,
): readonly Attempt[] {
  const now = attemptIn({ at: formatRfc3339(nowMs), errtype, message, ran_ms: ranMs })
  return [...attemptsOf(before), ...now].slice(-attemptBounds.attempts)
}

/** The first line of an error's message, cut. */
export function firstLineOf(message: string, maxCharacters: number): string {
  const line = message.split(/\r?\n/, 1)[0] ?? ''
  return line.slice(0, maxCharacters).toWellFormed()
}

function attemptIn(value: unknown): readonly Attempt[] {
  if (typeof value !== 'object' || value === null) return []
  const { at, errtype, message, ran_ms: ranMs, backtrace } = value as ForeignRecord
  return [
    {
      ...(isTime(at) && { at }),
      errtype: firstLineOf(textOf(errtype) ?? 'unknown', attemptBounds.type),
      message: firstLineOf(textOf(message) ?? '', attemptBounds.line),
      ...(typeof ranMs === 'number' && ranMs >= 0 && { ran_ms: ranMs }),
      ...(Array.isArray(backtrace) &&
        backtrace.length > 0 && { backtrace: linesOf(backtrace, attemptBounds) }),
    },
  ]
}

/** The first lines of a backtrace, cut. */
export function linesOf(
  backtrace: readonly unknown[],
  { backtrace: lines, line }: { readonly backtrace: number; readonly line: number },
): string[] {
  return backtrace.slice(0, lines).map((text) => firstLineOf(String(text), line))
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 35 && parseRfc3339(value) !== undefined
}

/** A text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
