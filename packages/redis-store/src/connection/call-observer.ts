import type { Step, StoreErrorCode } from '@crossgear/core-scheduler'

/** Hears of the store's calls, for metrics: a few times a step, never for a job. */
export interface CallObserver {
  /** A script was answered, with or without an error. */
  called(script: string, ms: number): void
  failed(code: StoreErrorCode): void
  /** A step leaves for the store. */
  sent(step: Step): void
}
