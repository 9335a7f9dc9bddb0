import type { NodeContext } from '../node/node-context.ts'
import type { JobState } from '../model/job.ts'
import type { Outcomes } from './outcomes.ts'
import { Part } from '../node/node-parts.ts'

interface Parts extends NodeContext {
  readonly outcomes: Outcomes
}

/** Settles jobs that native workers ended. */
export class NativeOutcomes extends Part<Parts> {
  settle(job: JobState): void {
    const { outcomes, retryPolicy } = this.parts
    outcomes.add(undefined, retryPolicy.ofNative(job), undefined, job.door)
  }

  async settleThese(lane: string, ids: readonly number[]): Promise<void> {
    for (const job of await this.parts.store.jobs.look(lane, ids, ['output'])) {
      if (job) this.settle(job)
    }
  }
}
