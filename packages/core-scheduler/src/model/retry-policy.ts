import type { StoreClock } from '../clock.ts'
import type { JobState, Outcome } from './job.ts'
import type { LaneNames } from './lanes.ts'
import { outcomeOfFailure, type FailureReport } from './retry.ts'

interface RetryOptions {
  readonly names: LaneNames
  /** Retries by function; they override the door's. */
  readonly retries: ReadonlyMap<string, number> | undefined
  /** In [0, 1), for retry delays. */
  readonly random: () => number
  readonly storeClock: StoreClock
}

/** Decides what happens to a failed job. */
export class RetryPolicy {
  readonly #options: RetryOptions
  #retries: RetryOptions['retries']

  constructor(options: RetryOptions) {
    this.#options = options
    this.#retries = options.retries
  }

  /** Replaces the retries of functions. */
  configure(retries: ReadonlyMap<string, number>): void {
    this.#retries = retries
  }

  /** The outcome of a failure that a worker reports: final, due again or dead. */
  ofFailure(job: JobState & { readonly token: string }, report: FailureReport): Outcome {
    const { names, random, storeClock } = this.#options
    const policy = job.retries ?? this.#retries?.get(names.parse(job.lane).fn)
    const judged = policy === undefined ? job : { ...job, retries: policy }
    return outcomeOfFailure(judged, report, storeClock.storeNowMs(), random())
  }

  /** The outcome of another door's job that a native worker ended. */
  ofNative(job: JobState): Outcome {
    const { lane, id, output = Buffer.alloc(0) } = job
    const token = 'native'
    if (job.status === 'success') return { lane, id, token, kind: 'complete', output }
    return this.ofFailure({ ...job, token }, { message: output.toString(), bytes: output })
  }
}
