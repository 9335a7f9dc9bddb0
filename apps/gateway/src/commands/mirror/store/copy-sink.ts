import type { StandingJob } from '@crossgear/redis-store'
import type { Comparison } from '../results/comparison.ts'

/** A job that came to a store. */
export interface StoredCopy {
  readonly fn: string
  readonly standing: StandingJob
}

/** The server for copies of a store's jobs. It reconnects. */
export interface CopySink {
  /** True if it reports results of jobs with waiting clients. */
  readonly hasResults: boolean
  /** True if a copy can be sent now. */
  readonly isReady: boolean
  /** Unanswered jobs. */
  readonly asked: number
  /** Settles when connected; rejects if that fails. */
  open(): Promise<void>
  /** `comparison` is absent for a job whose result is not compared. */
  copy(job: StoredCopy, comparison: Comparison | undefined): void
  end(): void
}
