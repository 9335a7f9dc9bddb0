import type { JobSet, Scheduler, SetExit, Taken } from '@crossgear/core-scheduler'
import type { FoundJob } from '../reads/job-scan.ts'
import { type Done, type Group, settled } from './group.ts'

/** Ends jobs wherever they stand, and moves those that are not queued. */
export class Ending {
  readonly #scheduler: Scheduler

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /** Ends all jobs of a group; their waiting clients get a failure. `as`: as what they are counted. */
  async end(group: Group, isDry: boolean, as: Taken): Promise<Done> {
    const { lane, place, found, piece } = group
    if (isDry) return { done: found.length, left: 0, skipped: [] }
    if (place === 'scheduled' || place === 'dead') {
      return settled(found.length, await this.fromSets(lane, place, found, as))
    }
    if (place === 'busy' || place === 'queue' || !piece) return this.#oneByOne(found, as)
    const ids = found.map(({ job }) => job.id)
    const some = { lane, band: place, ...piece, ids }
    const ended = await this.#scheduler.queues.endQueued(some, as)
    return settled(found.length, ended.length)
  }

  /** Moves scheduled or dead jobs to their destination; returns how many were still there. */
  async fromSets(
    lane: string,
    place: 'scheduled' | 'dead',
    found: readonly FoundJob[],
    to: SetExit,
  ): Promise<number> {
    const ids = found.map(({ job }) => job.id)
    const sets: readonly JobSet[] = place === 'dead' ? ['dead'] : ['scheduled', 'retries']
    let moved = 0
    for (const set of sets) moved += await this.#scheduler.sets.moveOf(lane, set, ids, to)
    return moved
  }

  async #oneByOne(found: readonly FoundJob[], as: Taken): Promise<Done> {
    let ended = 0
    for (const { job } of found) if (await this.#scheduler.admin.cancel(job, as)) ended += 1
    return settled(found.length, ended)
  }
}
