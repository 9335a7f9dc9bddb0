import type { NativeRecovery } from './native-recovery.ts'
import type { NodeContext } from '../node/node-context.ts'
import type { LeasedJob } from '../model/job.ts'
import type { Outcomes } from '../results/outcomes.ts'
import type { TaskTimes } from './task-times.ts'

/** Interval of promotions, milliseconds. */
const promoteEveryMs = 100
/** Lanes with a deadline that has passed, per check. */
const lanesPerCheck = 256
/** Expired leases per check and lane. */
const maxExpired = 500
/** Checks in which the deadlines of a lane are noted once: a lease that ends before those of others is noted late. */
const checksPerNote = 10

interface Parts extends NodeContext {
  readonly outcomes: Outcomes
  readonly times: TaskTimes
  readonly recovery: NativeRecovery
}

/** Moves due jobs into their queues; notes when leases end in the index of deadlines, and ends those whose time is up. */
export class Reaper {
  readonly #parts: Parts
  #checks = 0
  /** Lanes noted a moment ago. */
  #noted = new Set<string>()
  /** Lanes that left the index and were not served to the end. */
  #due: readonly string[] = []

  constructor(parts: Parts) {
    const { store, wakeups, times, tasks } = parts
    this.#parts = parts
    tasks.add({ name: 'reap', isFirst: true, run: () => this.#reap() })
    const promote = async (): Promise<void> => {
      for (const { lane, jobs } of await store.lanes.promote()) wakeups.wake(lane, jobs)
    }
    const run = (): Promise<void> => times.time('promote', promote)
    tasks.add({ name: 'promote', everyMs: promoteEveryMs, run })
  }

  async #reap(): Promise<void> {
    const { store, recovery } = this.#parts
    await this.#note()
    if (recovery.leads) {
      const due = this.#due.length > 0 ? this.#due : await store.lanes.overdue(lanesPerCheck)
      this.#due = due
    }
    // Also without a lane: leases that this node has not heard of go back.
    const expired = await store.jobs.expired(this.#due, maxExpired)
    for (const job of expired) this.#expire(job)
    if (this.#due.length > 0) await store.lanes.heal(this.#due)
    this.#due = []
  }

  /** A later lease of a lane ends later, mostly: the index moves on when the first one ends. */
  async #note(): Promise<void> {
    const { store, activeLeases } = this.#parts
    this.#checks += 1
    if (this.#checks % checksPerNote === 0) this.#noted.clear()
    const lanes = [...activeLeases.timed].filter((lane) => !this.#noted.has(lane))
    if (lanes.length === 0) return
    for (const lane of lanes) activeLeases.timed.delete(lane)
    try {
      await store.lanes.noteDeadlines(lanes)
    } catch (error) {
      for (const lane of lanes) activeLeases.timed.add(lane)
      throw error
    }
    for (const lane of lanes) this.#noted.add(lane)
  }

  /**
   * A late worker has lost the job. It counts as a failure only for a Faktory job with a consumer:
   * elsewhere the first failure would end the job.
   */
  #expire(job: LeasedJob): void {
    const { outcomes, retryPolicy, times } = this.#parts
    const { lane, id, token, door } = job
    const isLost = job.heldBy === 'named' || door !== 'faktory'
    const outcome = isLost
      ? ({ lane, id, token, kind: 'requeue', lost: true, ...retryPolicy.ofLoss() } as const)
      : retryPolicy.ofLateness(job)
    outcomes.add(undefined, outcome, times, door)
  }
}
