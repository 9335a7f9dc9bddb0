import type { StandingJob } from '@crossgear/redis-store'
import type { Comparison } from '../results/comparison.ts'

/** A job that came to a store. */
export interface StoredCopy {
  readonly fn: string
  readonly standing: StandingJob
}

/** The server that copies of a store's jobs go to. It comes back by itself. */
export interface CopySink {
  /** True where it has a result for a job that its client waits for. */
  readonly hasResults: boolean
  /** True where a copy can go out now. */
  readonly isReady: boolean
  /** Jobs that it has not answered. */
  readonly asked: number
  /** Settles when it is connected. Rejects where it cannot be. */
  open(): Promise<void>
  /** `comparison` is absent for a job whose result nobody compares. */
  send(copy: StoredCopy, comparison: Comparison | undefined): void
  end(): void
}
