import type { LeasedJob } from '../model/job.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { RetryPolicy } from '../model/retry-policy.ts'
import type { Outcomes } from '../results/outcomes.ts'
import type { Store } from '../store/store.ts'
import { BackgroundLoop, type LoopParts } from './background-loop.ts'
import { beatEveryMs } from './nodes/heartbeat.ts'
import { LaneRounds } from './lane-rounds.ts'
import type { TaskTimes } from './task-times.ts'

/**
 * Lanes per check, some 10 us of the store's time each; more lanes take turns, all within five
 * checks.
 */
const lanesPerCheck = 2_000
const checksPerRound = 5
/** Expired leases per check and lane. */
const maxExpired = 500

interface Parts extends LoopParts {
  readonly store: Pick<Store, 'jobs'>
  readonly registry: LaneRegistry
  readonly outcomes: Outcomes
  readonly retryPolicy: RetryPolicy
  readonly tasks: TaskTimes
}

/** Ends expired leases. */
export class Reaper extends BackgroundLoop {
  readonly #parts: Parts
  readonly #rounds: LaneRounds

  constructor(parts: Parts) {
    super(parts, { name: 'reap', everyMs: beatEveryMs, run: () => this.#reap() })
    this.#parts = parts
    this.#rounds = new LaneRounds(parts.registry, lanesPerCheck, checksPerRound)
  }

  async #reap(): Promise<void> {
    const { store } = this.#parts
    for (const job of await store.jobs.expired(this.#rounds.next(), maxExpired)) this.#expire(job)
  }

  /**
   * A late worker has lost the job. It counts as a failure only for a Faktory job with a consumer:
   * elsewhere the first failure would end the job.
   */
  #expire(job: LeasedJob): void {
    const { outcomes, retryPolicy, tasks } = this.#parts
    const { lane, id, token, door } = job
    const isLost = job.heldBy === 'named' || door !== 'faktory'
    const outcome = isLost
      ? ({ lane, id, token, kind: 'requeue', lost: true, ...retryPolicy.ofLoss() } as const)
      : retryPolicy.ofLateness(job)
    outcomes.add(undefined, outcome, tasks, door)
  }
}
