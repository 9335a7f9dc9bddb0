import type { JobSet, Scheduler, SetExit } from '@crossgear/core-scheduler'
import type { FoundJob } from '../reads/job-scan.ts'
import { type Done, type Group, settled } from './group.ts'

/** Ends jobs wherever they stand, and moves those that are not queued. */
export class Ending {
  readonly #scheduler: Scheduler

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /** Ends all jobs of a group; their waiting clients get a failure. */
  async end(group: Group, isDry: boolean): Promise<Done> {
    const { lane, place, found, piece } = group
    if (isDry) return { done: found.length, left: 0, skipped: [] }
    if (place === 'scheduled' || place === 'dead') {
      return settled(found.length, await this.fromSets(lane, place, found, 'nowhere'))
    }
    if (place === 'busy' || place === 'queue' || !piece) return this.#oneByOne(found)
    const ids = found.map(({ job }) => job.id)
    const ended = await this.#scheduler.queues.endQueued({ lane, band: place, ...piece, ids })
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

  async #oneByOne(found: readonly FoundJob[]): Promise<Done> {
    let ended = 0
    for (const { job } of found) if (await this.#scheduler.admin.cancel(job)) ended += 1
    return settled(found.length, ended)
  }
}
