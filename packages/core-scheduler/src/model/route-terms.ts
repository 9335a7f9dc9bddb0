import { type DeathCall, deathCallText } from './death-call.ts'
import type { NewJob } from './job.ts'
import type { LaneName } from './lanes.ts'

/** Terms of a job's runs by its route; absent: none. Those that the job brings along come first. */
export interface JobTerms {
  /** Retries after the first run; they override the door's. */
  readonly retries?: number
  /** The wait before each retry: see {@link NewJob.backoff}. */
  readonly backoff?: string
  /** Longest time of a run, seconds. */
  readonly timeoutSeconds?: number
}

/** Terms of all jobs of a function by its route; absent: none. */
export interface RouteTerms extends JobTerms {
  /** Retention of finished jobs, seconds. */
  readonly retentionSeconds?: number
  /** Terms of a single job that comes in, which override the others. */
  readonly ofJob?: (job: NewJob) => JobTerms | undefined
  /** Pushed when a job dies whose producer named no other. */
  readonly onDeath?: DeathCall
  /** See {@link NewJob.turn}. */
  readonly turnOf?: (job: NewJob) => string
  /** A failed run may say when the job is due again. */
  readonly obeysRetryAfter?: boolean
  /** A job that waits longer, from when it is due, is not run, milliseconds. */
  readonly maxAgeMs?: number
  /** A background job that is too old is dropped, and not kept among the dead. */
  readonly dropsAged?: boolean
  /** Jobs are refused while so many wait. */
  readonly maxWaiting?: number
  /** Jobs are refused while no worker is there for them. */
  readonly needsWorker?: boolean
}

/** A job with the terms of its function's route. `nowMs`: milliseconds since 1970 on the store's clock. */
export function withTerms(job: NewJob, route: RouteTerms, nowMs: number, place: LaneName): NewJob {
  const { retries, backoff, timeoutSeconds } = { ...route, ...route.ofJob?.(job) }
  const { retentionSeconds, maxAgeMs = Infinity, onDeath, turnOf } = route
  const agedAtMs = Math.ceil(Math.max(nowMs, job.dueAtMs ?? 0) + maxAgeMs)
  return {
    ...job,
    ...(retries !== undefined && job.retries === undefined && { retries }),
    ...(backoff !== undefined && { backoff }),
    ...(timeoutSeconds !== undefined && {
      reserveForSeconds: job.reserveForSeconds ?? timeoutSeconds,
      isTimed: true,
    }),
    ...(retentionSeconds !== undefined && { retentionSeconds }),
    ...(onDeath && job.onDeath === undefined && { onDeath: deathCallText(onDeath, place) }),
    ...(turnOf && { turn: turnOf(job) }),
    ...(agedAtMs < (job.staleAtMs ?? Infinity) && {
      staleAtMs: agedAtMs,
      ...(route.dropsAged !== true && { diesStale: true }),
    }),
  }
}
