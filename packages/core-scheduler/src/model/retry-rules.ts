import type { JobState } from './job.ts'

/** A worker's report of a failure. Its bounds are the door's. */
export interface FailureReport {
  readonly message: string
  /** The message as it came, where it may not be UTF-8; for waiting clients. */
  readonly bytes?: Uint8Array
  readonly errtype?: string
  /** An exception, also where the message is empty. */
  readonly isException?: boolean
  readonly backtrace?: readonly string[]
  /** How long its worker had the job, milliseconds; absent where that is not known. */
  readonly ranMs?: number
}

/** A job under the lease that failed. */
export type FailedJob = JobState & { readonly token: string }

/** The consequence of a failure. `record` is kept as the job's `failure`, in the rules' own format. */
export type FailureRuling =
  /** Final. A background job without a record is not kept. */
  | { readonly kind: 'fail'; readonly record?: string }
  | { readonly kind: 'dead'; readonly record: string }
  | { readonly kind: 'retry'; readonly record: string; readonly delayMs: number }

/** The doors' rules for jobs that fail: how often they are retried, when, and what is noted. */
export interface RetryRules {
  /**
   * `nowMs`: milliseconds since 1970 on the store's clock. `obeysRetryAfter`: the report may say when the job is due again.
   */
  ofFailure(
    job: FailedJob,
    report: FailureReport,
    nowMs: number,
    obeysRetryAfter?: boolean,
  ): FailureRuling
  /** The report for a worker that did not end its job in time. */
  readonly lateReport: FailureReport
  /** The record of a job that is given up after too many lost workers. */
  ofLosses(nowMs: number): string
}

/** Every failure is final. */
export const noRetries: RetryRules = {
  ofFailure: (_job, { message }) => ({ kind: 'fail', record: JSON.stringify({ message }) }),
  lateReport: { message: 'its worker did not end it in time' },
  ofLosses: () => JSON.stringify({ message: 'its workers vanished while they had it' }),
}
