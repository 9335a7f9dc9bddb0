import type { Waiters } from '../results/waiters.ts'
import type { Job, JobRef } from '../model/job.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Store } from '../store/store.ts'
import type { JobSet, SetExit } from '../store/queue-ports.ts'

/** Jobs looked at per step. */
const jobsPerStep = 500
/** Jobs moved per step: some 2 ms of the store's time. */
const movedPerStep = 64

/** Selects jobs of a set; an empty filter selects all. */
export interface SetFilter {
  /** Only jobs of this function. */
  readonly fn?: string
  /** May take its time, so that others pass. */
  readonly matches?: Matches
}

type Matches = (job: Job) => boolean | Promise<boolean>

interface Parts {
  readonly store: Store
  readonly registry: LaneRegistry
  readonly waiters: Waiters
}

/** Operations on scheduled, retried and dead jobs, over all lanes. */
export class JobSets {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Moves the selected jobs of a set. */
  async move(set: JobSet, filter: SetFilter, to: SetExit): Promise<void> {
    const { registry } = this.#parts
    const lanes = filter.fn === undefined ? [...registry.all()] : registry.ofFunction(filter.fn)
    for (const lane of lanes) await this.#moveOfLane(lane, set, filter.matches, to)
  }

  /** Moves the named jobs, if they are still in the set. */
  async moveThese(set: JobSet, refs: readonly JobRef[], to: SetExit): Promise<void> {
    const byLane = new Map<string, number[]>()
    for (const { lane, id } of refs) {
      const ids = byLane.get(lane)
      if (ids) ids.push(id)
      else byLane.set(lane, [id])
    }
    for (const [lane, ids] of byLane) await this.#move(lane, set, ids, to)
  }

  /** Moves jobs of one lane to their destination; returns how many were in the set. */
  async moveOf(lane: string, set: JobSet, ids: readonly number[], to: SetExit): Promise<number> {
    return ids.length === 0 ? 0 : this.#move(lane, set, ids, to)
  }

  async #moveOfLane(
    lane: string,
    set: JobSet,
    matches: Matches | undefined,
    to: SetExit,
  ): Promise<void> {
    const { store } = this.#parts
    for (let from = 0; ;) {
      const page = await store.queues.setIds(lane, set, from, jobsPerStep)
      if (page.seen === 0) return
      const wanted = matches ? await this.#matching(lane, page.ids, matches) : page.ids
      const moved = wanted.length === 0 ? 0 : await this.#move(lane, set, wanted, to)
      // Moved jobs have left the set, and the rest has moved up.
      from += page.seen - moved
    }
  }

  async #matching(
    lane: string,
    ids: readonly number[],
    matches: Matches,
  ): Promise<readonly number[]> {
    const found: number[] = []
    for (const job of await this.#parts.store.jobs.read(lane, ids)) {
      if (job && (await matches(job))) found.push(job.id)
    }
    return found
  }

  async #move(lane: string, set: JobSet, ids: readonly number[], to: SetExit): Promise<number> {
    if (set === to) return 0
    const { store, waiters } = this.#parts
    let count = 0
    for (let at = 0; at < ids.length; at += movedPerStep) {
      const moved = await store.queues.moveJobs(lane, set, ids.slice(at, at + movedPerStep), to)
      if (to !== 'queue') for (const id of moved) waiters.notify({ lane, id }, { kind: 'fail' })
      count += moved.length
    }
    return count
  }
}
