import { isAutomatic, type JobState, type Outcome } from './job.ts'

/** A worker's report of a failure. Its bounds are the door's. */
export interface FailureReport {
  readonly message: string
  /** The message as it came, where it may not be UTF-8; for waiting clients. */
  readonly bytes?: Uint8Array
  readonly errtype?: string
  /** An exception, also where the message is empty. */
  readonly isException?: boolean
  readonly backtrace?: readonly string[]
}

/** Retries of a Faktory job without a number of its own. */
export const defaultFaktoryRetries = 25

interface FailureRecord {
  readonly retry_count?: unknown
}

/**
 * The outcome of a reported failure by the job's policy: final, due again or dead. A background job
 * that the automatic rule gave to a consumer is retried like a Faktory job: the consumer may not
 * know its function. `random` is in [0, 1). The delay is the Faktory server's: count^4 + 15 +
 * rand(0..29) * (count + 1) seconds.
 */
export function outcomeOfFailure(
  job: JobState & { readonly token: string },
  report: FailureReport,
  nowMs: number,
  random: number,
): Outcome {
  const { lane, id, token } = job
  const message = report.bytes ?? Buffer.from(report.message)
  const retries = job.retries ?? defaultRetries(job)
  const { isException = false } = report
  // With `retry` 0 a Faktory producer asks for the job not to be kept.
  if (retries === 0 && job.door === 'faktory') {
    return { lane, id, token, kind: 'fail', message, isException }
  }

  const count = failuresBefore(job)
  const dead = retries <= 0 || count >= retries
  const delayMs = 1000 * (count ** 4 + 15 + Math.floor(random * 30) * (count + 1))
  const failure = JSON.stringify({
    retry_count: count,
    failed_at: new Date(nowMs).toISOString(),
    ...(dead ? {} : { next_at: new Date(nowMs + delayMs).toISOString() }),
    message: report.message,
    errtype: report.errtype ?? 'unknown',
    ...(report.backtrace?.length ? { backtrace: report.backtrace } : {}),
    remaining: retries - count,
  })
  if (retries === 0) return { lane, id, token, kind: 'fail', message, isException, failure }
  return dead
    ? { lane, id, token, kind: 'dead', message, failure }
    : { lane, id, token, kind: 'retry', message, delayMs, failure }
}

function defaultRetries({
  door,
  token,
  foreground,
}: JobState & { readonly token: string }): number {
  // A native client may or may not wait: it hears of the failure, and the job goes to the dead set.
  const isBridged = isAutomatic(token) && !foreground && door !== 'native'
  const isRetried = door === 'faktory' || isBridged
  return isRetried ? defaultFaktoryRetries : 0
}

/** Faktory's `failure` of a job that is given up after too many lost workers. */
export function lossFailure(nowMs: number): string {
  return JSON.stringify({
    retry_count: 0,
    failed_at: new Date(nowMs).toISOString(),
    message: 'its workers vanished while they had it',
    errtype: 'WorkersLost',
    remaining: 0,
  })
}

/** Earlier failures of the job. */
function failuresBefore(job: JobState): number {
  if (job.failure === undefined) return 0
  const record = JSON.parse(job.failure) as FailureRecord
  return typeof record.retry_count === 'number' ? record.retry_count + 1 : 0
}
