import type { JobState } from '../model/job.ts'
import type { RetryPolicy } from '../model/retry-policy.ts'
import type { Store } from '../store/store.ts'
import type { Outcomes } from './outcomes.ts'

interface Parts {
  readonly store: Pick<Store, 'jobs'>
  readonly outcomes: Outcomes
  readonly retryPolicy: RetryPolicy
}

/** Settles jobs that native workers ended. */
export class NativeOutcomes {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  settle(job: JobState): void {
    const { outcomes, retryPolicy } = this.#parts
    outcomes.add(undefined, retryPolicy.ofNative(job), undefined, job.door)
  }

  async settleThese(lane: string, ids: readonly number[]): Promise<void> {
    for (const job of await this.#parts.store.jobs.look(lane, ids, ['output'])) {
      if (job) this.settle(job)
    }
  }
}
