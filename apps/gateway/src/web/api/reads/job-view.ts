import {
  arrivalOf,
  type JobPlace,
  type JobState,
  type Standing,
  storeDefaults,
} from '@crossgear/core-scheduler'
import type { Static } from '@sinclair/typebox'
import { attemptBounds, attemptsOf, firstLineOf, linesOf } from '../../../bridge/attempts.ts'
import { defaultFaktoryRetries } from '../../../bridge/faktory-retries.ts'
import { parseJson } from '../../../json.ts'
import { isoTime } from '../schemas/common.ts'
import { failureBounds, type jobDetail, type JobFilter, type jobSummary } from '../schemas/jobs.ts'
import type { JobNames } from './job-names.ts'
import type { Reason } from './waits/reason.ts'

export type JobSummaryView = Static<typeof jobSummary>

/** A job's place, and its time there: when it is due, forgotten or taken back. */
export interface Placed {
  readonly place: JobPlace | Standing['place']
  readonly atMs?: number
}

/** A job's state as the API says it. */
export function stateOf(job: JobState, { place }: Placed): JobSummaryView['state'] {
  if (place === 'dead') return 'dead'
  if (place === 'scheduled') return job.failure === undefined ? 'scheduled' : 'retry'
  if (place === 'busy' || job.status === 'busy') return 'running'
  if (job.status === 'success') return 'succeeded'
  return job.status === 'error' ? 'failed' : 'waiting'
}

/** When a dead job died: it is forgotten a fixed time after that. */
export function diedAtMs({ place, atMs }: Placed): number | undefined {
  if (place !== 'dead' || atMs === undefined) return undefined
  return atMs - 1000 * storeDefaults.deadSeconds
}

/** A job as lists show it. */
export function summaryOf(
  job: JobState,
  placed: Placed,
  names: JobNames,
  laneOf: (lane: string) => { readonly fn: string; readonly queue: string },
  waitsFor: Reason | null,
): JobSummaryView {
  const { fn, queue } = laneOf(job.lane)
  const { place, atMs } = placed
  const timeAt = (where: Placed['place']): string | null => (place === where ? isoTime(atMs) : null)
  return {
    id: names.of(job),
    handle: names.handleOf(job),
    jid: job.jid ?? null,
    function: fn,
    queue,
    state: stateOf(job, placed),
    door: job.door,
    level: job.level,
    unique: uniqueText(job.unique),
    enqueued_at: isoTime(arrivalOf(job)),
    due_at: timeAt('scheduled'),
    reserved_until: timeAt('busy'),
    forgotten_at: timeAt('dead'),
    died_at: isoTime(diedAtMs(placed)),
    lost_workers: job.losses,
    retries: job.retries ?? (job.door === 'faktory' ? defaultFaktoryRetries : null),
    foreground: job.foreground,
    waiting_clients: job.waiting,
    progress: progressOf(job),
    waits_for: waitsFor,
    error: errorOf(job.failure, attemptBounds),
  }
}

/** A token is a letter, the node that gave it, a hyphen and a number. */
const tokenForm = /^[a-z](.+)-[^-]+$/

/** The node that handed a job out. */
export function nodeOfToken(token: string): string | undefined {
  return tokenForm.exec(token)?.[1]
}

/** A key that begins with NUL stands for the payload: Gearman's `-`. */
function uniqueText(unique: Buffer | undefined): string | null {
  if (!unique) return null
  return unique[0] === 0 ? '-' : unique.toString()
}

/** The last note of its worker. */
export function progressOf(job: JobState): JobSummaryView['progress'] {
  const { dividend, divisor, note, notedAtMs } = job
  if (!dividend && !divisor && note === undefined) return null
  const [done, total] = [numberOf(dividend), numberOf(divisor)]
  const percent = done !== null && total !== null && total > 0 ? (100 * done) / total : null
  return { done, total, percent, note: note ?? null, noted_at: isoTime(notedAtMs) }
}

function numberOf(bytes: Buffer | undefined): number | null {
  const text = bytes?.toString('latin1') ?? ''
  const number = text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : null
}

/** Characters of a message that are shown, whoever wrote it. */
const maxMessage = 1_000
/** Lines of a backtrace that the page of a job shows, and characters of each; a list shows as much as of an attempt. */
export const wholeTrace = { backtrace: 100, line: 1_000 } as const

/** Faktory's `failure`, of which only what has the right type is shown. */
export function errorOf(
  failure: string | undefined,
  bounds: { readonly backtrace: number; readonly line: number },
): JobSummaryView['error'] {
  if (failure === undefined) return null
  const record = recordOf(failure)
  const text = (name: string): string | null =>
    textIn(record, name)?.slice(0, maxMessage).toWellFormed() ?? null
  const { retry_count: tries, backtrace } = record
  return {
    type: text('errtype'),
    message: text('message'),
    failed_at: text('failed_at'),
    next_at: text('next_at'),
    retry_count: typeof tries === 'number' && Number.isInteger(tries) ? tries : null,
    backtrace: Array.isArray(backtrace) ? linesOf(backtrace, bounds) : [],
  }
}

/** The newest failed runs of a job, the oldest first. */
export function attemptsView({
  failure,
}: Pick<JobState, 'failure'>): Static<typeof jobDetail>['attempts'] {
  if (failure === undefined) return []
  return attemptsOf(recordOf(failure)).map((attempt) => {
    const { at = null, errtype: type, message, ran_ms: ranMs, backtrace = [] } = attempt
    const ran = ranMs === undefined ? null : ranMs / 1000
    return { at, type, message, ran_seconds: ran, backtrace: [...backtrace] }
  })
}

/** The kind and the first line of an error, by which failures are grouped; empty where there is none. */
export interface FailureKind {
  readonly type: string
  readonly line: string
}

/** The kind of a failure, and when the job last failed. */
export function failureOf(failure: string | undefined): {
  readonly kind: FailureKind
  readonly lastMs: number | undefined
} {
  const record = failure === undefined ? {} : recordOf(failure)
  const lastMs = Date.parse(attemptsOf(record).at(-1)?.at ?? textIn(record, 'failed_at') ?? '')
  return { kind: failureKindOf({ failure }), lastMs: Number.isNaN(lastMs) ? undefined : lastMs }
}

function failureKindOf({ failure }: { readonly failure?: string | undefined }): FailureKind {
  const { type, message } = errorOf(failure, attemptBounds) ?? {}
  return {
    type: (type ?? '').slice(0, failureBounds.type),
    line: firstLineOf(message ?? '', failureBounds.line),
  }
}

/** True for a job whose failure is of the kind that a filter names, if it names one. */
function isOfKind(job: JobState, { error_type: type, error_line: line }: JobFilter): boolean {
  if (type === undefined && line === undefined) return true
  const kind = failureKindOf(job)
  return (type ?? kind.type) === kind.type && (line ?? kind.line) === kind.line
}

/** True for a job that a filter takes by what the job itself says: not by its lane, place and payload. */
export function fitsFilter(job: JobState, filter: JobFilter, nowMs: number): boolean {
  const { door, unique, older_than_seconds: older, newer_than_seconds: newer } = filter
  // Nobody knows when a native client's job came: it is of no age.
  const ageSeconds = (nowMs - (arrivalOf(job) ?? Number.NaN)) / 1000
  return (
    (door ?? job.door) === job.door &&
    (unique === undefined || job.unique?.toString() === unique) &&
    (filter.batch ?? job.batch) === job.batch &&
    (older === undefined || ageSeconds >= older) &&
    (newer === undefined || ageSeconds <= newer) &&
    isOfKind(job, filter)
  )
}

function textIn(record: Readonly<Record<string, unknown>>, name: string): string | null {
  const { [name]: value } = record
  return typeof value === 'string' ? value : null
}

function recordOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseJson(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Another program wrote it: shown as it is.
  }
  return { message: text }
}
