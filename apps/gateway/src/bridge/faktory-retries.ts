import {
  type FailedJob,
  type FailureReport,
  type FailureRuling,
  isAutomatic,
  type JobState,
  type RetryRules,
} from '@crossgear/core-scheduler'
import { formatRfc3339 } from '@crossgear/fwp-codec'
import { attemptsAfter, type ForeignRecord, textOf } from './attempts.ts'
import { waitSeconds } from './backoff.ts'

/** A hundred years: a time that still has a name in a record. */
const longestDelayMs = 3_155_760_000_000
/** Retries of a Faktory job without a number of its own. */
export const defaultFaktoryRetries = 25

/**
 * Retries by Faktory's rules, for Faktory's jobs and all that a route or the automatic rule treats
 * like them; a reported failure of any other job is final. Records are Faktory's `failure`.
 */
export class FaktoryRetries implements RetryRules {
  readonly lateReport = { errtype: 'ReservationExpired', message: 'reservation expired' }
  readonly #random: () => number

  /** `random` is in [0, 1), for delays. */
  constructor(random: () => number = Math.random) {
    this.#random = random
  }

  ofFailure(
    job: FailedJob,
    report: FailureReport,
    nowMs: number,
    obeysRetryAfter = false,
  ): FailureRuling {
    const retries = job.retries ?? defaultRetries(job)
    // With `retry` 0 a Faktory producer asks for the job not to be kept.
    if (retries === 0 && job.door === 'faktory') return { kind: 'fail' }
    const before = recordOf(job)
    const count = failuresBefore(before)
    const isDead = retries <= 0 || count >= retries
    const asked = obeysRetryAfter ? retryAfterSeconds(report.message) : undefined
    const delayMs = this.#delayMs(asked ?? waitSeconds(job.backoff, count), count)
    const attempts = attemptsAfter(before, report, nowMs)
    const record = JSON.stringify({
      retry_count: count,
      // Of the first failure; a dead job keeps the time of its last retry.
      failed_at: textOf(before.failed_at) ?? formatRfc3339(nowMs),
      next_at: isDead ? textOf(before.next_at) : formatRfc3339(nowMs + delayMs),
      message: report.message,
      errtype: report.errtype ?? 'unknown',
      ...(report.backtrace?.length ? { backtrace: report.backtrace } : {}),
      // Negative only where the producer said so.
      remaining: Math.max(Math.min(retries, 0), retries - count),
      ...((attempts.length > 1 || report.ranMs !== undefined) && { attempts }),
    })
    if (retries === 0) return { kind: 'fail', record }
    return isDead ? { kind: 'dead', record } : { kind: 'retry', record, delayMs }
  }

  ofLosses(nowMs: number): string {
    return JSON.stringify({
      retry_count: 0,
      failed_at: formatRfc3339(nowMs),
      message: 'its workers vanished while they had it',
      errtype: 'WorkersLost',
      remaining: 0,
    })
  }

  /** Without a time of its own the Faktory server's: count^4 + 15 + rand(0..29) * (count + 1) seconds. */
  #delayMs(given: number | undefined, count: number): number {
    const seconds = given ?? count ** 4 + 15 + Math.floor(this.#random() * 30) * (count + 1)
    return Math.min(longestDelayMs, 1000 * seconds)
  }
}

/**
 * A background job that the automatic rule gave to a consumer is retried like a Faktory job: the
 * consumer may not know its function.
 */
function defaultRetries({ door, token, foreground }: FailedJob): number {
  // A native client may or may not wait: it is notified of the failure, and the job goes to the
  // dead set.
  const isBridged = isAutomatic(token) && !foreground && door !== 'native'
  const isRetried = door === 'faktory' || isBridged
  return isRetried ? defaultFaktoryRetries : 0
}

function recordOf({ failure }: Pick<JobState, 'failure'>): ForeignRecord {
  return failure === undefined ? {} : (JSON.parse(failure) as ForeignRecord)
}

/** Failed runs of a job so far. */
export function failuresOf(job: Pick<JobState, 'failure'>): number {
  return failuresBefore(recordOf(job))
}

/** None where another program wrote the record. */
function failuresBefore({ retry_count: count }: ForeignRecord): number {
  return Number.isSafeInteger(count) && Number(count) >= 0 ? Number(count) + 1 : 0
}

/** Longest wait that a worker can ask for, seconds. */
const maxRetryAfterSeconds = 86_400

/** `retry-after: N` at the beginning of a worker's message: seconds, at most a day. Undefined without it. */
export function retryAfterSeconds(message: string): number | undefined {
  const [, digits] = /^retry-after:[ \t]*(\d{1,9})(?!\d)/i.exec(message) ?? []
  return digits === undefined ? undefined : Math.min(Number(digits), maxRetryAfterSeconds)
}
