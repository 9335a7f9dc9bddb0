import type { LeasedJob } from '../model/job.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import { lossFailure } from '../model/retry.ts'
import type { RetryPolicy } from '../model/retry-policy.ts'
import type { Outcomes } from '../results/outcomes.ts'
import type { Store } from '../store/ports.ts'
import { BackgroundLoop, type LoopParts } from './background-loop.ts'
import { beatEveryMs, type Heartbeat } from './nodes/heartbeat.ts'
import { LaneRounds } from './lane-rounds.ts'
import type { TaskTimes } from './task-times.ts'

/** Lanes of one look, some 10 us of the store's time each: of more all have their turn in five. */
const lanesPerLook = 2_000
const looksPerRound = 5
/** Leases past their deadline that one look takes on, per lane. */
const maxExpired = 500

interface Parts extends LoopParts {
  readonly store: Pick<Store, 'expired'>
  readonly registry: LaneRegistry
  readonly heartbeat: Heartbeat
  readonly outcomes: Outcomes
  readonly retryPolicy: RetryPolicy
  readonly tasks: TaskTimes
  readonly maxLosses: number
}

/** Ends leases that are past their deadline. */
export class Reaper extends BackgroundLoop {
  readonly #parts: Parts
  readonly #rounds: LaneRounds

  constructor(parts: Parts) {
    super(parts, { name: 'reap', everyMs: beatEveryMs, run: () => this.#reap() })
    this.#parts = parts
    this.#rounds = new LaneRounds(parts.registry, lanesPerLook, looksPerRound)
  }

  async #reap(): Promise<void> {
    const { store } = this.#parts
    for (const job of await store.expired(this.#rounds.next(), maxExpired)) this.#expire(job)
  }

  /**
   * A worker that ran out of time has lost the job. Only where a Faktory consumer has a Faktory job that
   * is a failure, as there: by the rules of the other doors the first failure would be the job's end.
   */
  #expire(job: LeasedJob): void {
    const { heartbeat, outcomes, retryPolicy, tasks, maxLosses } = this.#parts
    const { lane, id, token, door } = job
    const isLost = job.heldBy === 'named' || door !== 'faktory'
    const failure = lossFailure(heartbeat.storeNowMs())
    const late = { errtype: 'ReservationExpired', message: 'reservation expired' }
    const outcome = isLost
      ? ({ lane, id, token, kind: 'requeue', lost: true, maxLosses, failure } as const)
      : retryPolicy.ofFailure(job, late)
    outcomes.add(undefined, outcome, tasks, door)
  }
}
