import type { StoreClock } from '../clock.ts'
import type { Failure, JobState, Loss, Outcome } from './job.ts'
import type { LaneNames } from './lanes.ts'
import type { FailedJob, FailureReport, RetryRules } from './retry-rules.ts'
import type { RouteTerms } from './route-terms.ts'

interface RetryOptions {
  readonly names: LaneNames
  /** Routes by function. */
  readonly routes: ReadonlyMap<string, RouteTerms> | undefined
  readonly rules: RetryRules
  readonly storeClock: StoreClock
  /** Workers that a job may lose before it is given up; 0: any number. */
  readonly maxLosses: number
}

/** Makes outcomes of failures, by the doors' rules. */
export class RetryPolicy {
  readonly #options: RetryOptions
  #routes: RetryOptions['routes']

  constructor(options: RetryOptions) {
    this.#options = options
    this.#routes = options.routes
  }

  /** Replaces the routes. */
  configure(routes: ReadonlyMap<string, RouteTerms>): void {
    this.#routes = routes
  }

  /** The outcome of a failure that a worker reports: final, due again or dead. */
  ofFailure(job: FailedJob, report: FailureReport): Failure {
    const { names, rules, storeClock } = this.#options
    const { lane, id, token } = job
    const route = this.#routes?.get(names.parse(lane).fn)
    const ruled = route ? ruledBy(job, route) : job
    const isObeyed = route?.obeysRetryAfter ?? false
    const ruling = rules.ofFailure(ruled, report, storeClock.storeNowMs(), isObeyed)
    const message = report.bytes ?? Buffer.from(report.message)
    const held = { lane, id, token, message }
    switch (ruling.kind) {
      case 'retry':
        return { ...held, kind: 'retry', delayMs: ruling.delayMs, failure: ruling.record }
      case 'dead':
        return { ...held, kind: 'dead', failure: ruling.record }
      case 'fail': {
        const failure = ruling.record === undefined ? {} : { failure: ruling.record }
        return { ...held, kind: 'fail', isException: report.isException ?? false, ...failure }
      }
    }
  }

  /** The outcome of a job that its worker did not end in time. */
  ofLateness(job: FailedJob): Failure {
    return { ...this.ofFailure(job, this.#options.rules.lateReport), isLate: true }
  }

  /** The end of a run whose worker was lost. */
  ofLoss(): Loss {
    const { rules, storeClock, maxLosses } = this.#options
    return { maxLosses, failure: rules.ofLosses(storeClock.storeNowMs()) }
  }

  /** The outcome of another door's job that a native worker ended. */
  ofNative(job: JobState): Outcome {
    const { lane, id, output = Buffer.alloc(0) } = job
    const token = 'native'
    if (job.status === 'success') return { lane, id, token, kind: 'complete', output }
    return this.ofFailure({ ...job, token }, { message: output.toString(), bytes: output })
  }
}

/** A job with what its route says about retries, where it says nothing itself. */
function ruledBy(job: FailedJob, route: RouteTerms): FailedJob {
  const { retries = route.retries, backoff = route.backoff } = job
  return {
    ...job,
    ...(retries !== undefined && { retries }),
    ...(backoff !== undefined && { backoff }),
  }
}
