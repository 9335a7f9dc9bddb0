import type { JobRef, JobState } from '../model/job.ts'
import type { NativeOutcomes } from './native-outcomes.ts'
import { failureEvent, type Outcomes } from './outcomes.ts'
import type { Clock, Store } from '../store/ports.ts'
import type { ProgressPoller } from './progress-poller.ts'
import type { Waiters } from './waiters.ts'

/** How long the answer to this node's own step may lag behind the news of it, milliseconds. */
export const ownAnswerMs = 2
/** Clients in one look at what became of their jobs; the rest have the next one. */
const maxLookedAt = 500

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly waiters: Waiters
  readonly outcomes: Outcomes
  readonly nativeOutcomes: NativeOutcomes
  readonly progress: ProgressPoller
}

/** Why a job is looked at. */
export interface LookReason {
  /** A node has told this one of its end, and before it all else that it had to tell. */
  readonly endWasSeen?: boolean
  /** Nobody listened for a while: what was said in that time is in the store alone. */
  readonly afterSilence?: boolean
  /** A job that is gone will not be heard of again. */
  readonly goneIsLost?: boolean
}

/** Looks in the store at jobs that clients wait for, and tells them what they missed. */
export class JobPoller {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async look(lane: string, ids: readonly number[], reason: LookReason = {}): Promise<void> {
    const { store, outcomes } = this.#parts
    const jobs = await store.look(lane, ids, ['output'])
    const over: (JobState | JobRef)[] = []
    for (const [at, id] of ids.entries()) {
      const job = jobs[at]
      if (job?.status === 'idle' || job?.status === 'busy') this.#notifyProgress(job, reason)
      else if (job ?? reason.goneIsLost) over.push(job ?? { lane, id })
    }
    if (over.length === 0) return
    // Reports of a gateway's worker from before the end of its job may still be under way to this node.
    const isNative = over.every((one) => 'status' in one && !one.settled)
    if (!reason.endWasSeen && !isNative) await store.delivered()
    for (const one of over) if (!outcomes.isSettling(one)) this.#notifyEnd(one)
  }

  /** Looks at those that have been waited for so long. */
  async lookAtOld(lane: string, ageMs: number, reason: LookReason): Promise<void> {
    const beforeMs = this.#parts.clock.nowMs() - ageMs
    const ids = this.#parts.waiters.inTurn(lane, beforeMs, maxLookedAt)
    if (ids.length > 0) await this.look(lane, ids, reason)
  }

  /** A gateway passes on what its workers say; a native worker only writes it in the job. */
  #notifyProgress(job: JobState, { afterSilence = false }: LookReason): void {
    const { waiters, progress } = this.#parts
    const { lane, id, dividend, divisor } = job
    const isNative = job.token === undefined
    if (
      (isNative || afterSilence) &&
      dividend &&
      divisor &&
      waiters.isNews(job, dividend, divisor)
    ) {
      waiters.notify(job, { kind: 'status', dividend, divisor })
    }
    if (!isNative) progress.remove(lane, id)
    else if (job.status === 'busy') progress.add(lane, id)
  }

  #notifyEnd(job: JobState | JobRef): void {
    const { clock, waiters, nativeOutcomes } = this.#parts
    if (!('status' in job)) {
      // Unless the answer to its own end is just arriving.
      clock.after(ownAnswerMs, () => waiters.giveUp(job))
    } else if (!job.settled) nativeOutcomes.settle(job)
    else if (job.status === 'success') {
      waiters.notify(job, { kind: 'complete', output: job.output ?? Buffer.alloc(0) })
    } else waiters.notify(job, failureEvent(job.output ?? Buffer.alloc(0), job.isException))
  }
}
