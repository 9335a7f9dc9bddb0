import type { JobRef, JobState } from '../model/job.ts'
import type { NativeOutcomes } from './native-outcomes.ts'
import { failureEvent, type Outcomes } from './outcomes.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'
import type { ProgressPoller } from './progress-poller.ts'
import type { Waiters } from './waiters.ts'

/** How long the answer to this node's own step may lag behind its event, milliseconds. */
export const ownAnswerMs = 2
/** Waiters per poll; the rest wait for the next one. */
const maxPolled = 500

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly waiters: Waiters
  readonly outcomes: Outcomes
  readonly nativeOutcomes: NativeOutcomes
  readonly progress: ProgressPoller
}

/** Reason to poll a job. */
export interface PollReason {
  /** Its end was announced, and everything before it. */
  readonly endWasSeen?: boolean
  /** Events were missed for a while: progress of that time is in the store alone. */
  readonly afterSilence?: boolean
  /** A job that is gone will never be announced. */
  readonly goneIsLost?: boolean
}

/** Polls jobs with waiters, and delivers events that were missed. */
export class JobPoller {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async poll(lane: string, ids: readonly number[], reason: PollReason = {}): Promise<void> {
    const { store, outcomes } = this.#parts
    const jobs = await store.jobs.look(lane, ids, ['output'])
    const over: (JobState | JobRef)[] = []
    for (const [at, id] of ids.entries()) {
      const job = jobs[at]
      if (job?.status === 'idle' || job?.status === 'busy') this.#notifyProgress(job, reason)
      else if (job ?? reason.goneIsLost) over.push(job ?? { lane, id })
    }
    if (over.length === 0) return
    // A worker's last reports may still be on their way to this node.
    const isNative = over.every((one) => 'status' in one && !one.settled)
    if (!reason.endWasSeen && !isNative) await store.events.delivered()
    for (const one of over) if (!outcomes.isSettling(one)) this.#notifyEnd(one)
  }

  /** Polls jobs that have been waited for this long. */
  async pollOld(lane: string, ageMs: number, reason: PollReason): Promise<void> {
    const beforeMs = this.#parts.clock.nowMs() - ageMs
    const ids = this.#parts.waiters.inTurn(lane, beforeMs, maxPolled)
    if (ids.length > 0) await this.poll(lane, ids, reason)
  }

  /** Gateways forward their workers' progress; a native worker only writes it into the job. */
  #notifyProgress(job: JobState, { afterSilence = false }: PollReason): void {
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
      // The answer to this node's own outcome may just be arriving.
      clock.after(ownAnswerMs, () => waiters.giveUp(job))
    } else if (!job.settled) nativeOutcomes.settle(job)
    else if (job.status === 'success') {
      waiters.notify(job, { kind: 'complete', output: job.output ?? Buffer.alloc(0) })
    } else waiters.notify(job, failureEvent(job.output ?? Buffer.alloc(0), job.isException))
  }
}
