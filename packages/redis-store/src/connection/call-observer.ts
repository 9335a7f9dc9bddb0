import type { Step, StoreErrorCode } from '@crossgear/core-scheduler'

/** Receives figures about the store's calls: a few times a step, never per job. */
export interface CallObserver {
  /** A script was answered, with or without an error. */
  called(script: string, ms: number): void
  failed(code: StoreErrorCode): void
  /** A step was sent to the store. */
  sent(step: Step): void
}
