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
    const { found } = group
    if (isDry) return { done: found.length, left: 0, skipped: [] }
    return settled(found.length, (await this.each(group, as)).length)
  }

  /** The same; returns the ids of those that were still there. */
  async each({ lane, place, found, piece }: Group, as: Taken): Promise<readonly number[]> {
    const ids = found.map(({ job }) => job.id)
    if (place === 'scheduled' || place === 'dead') {
      const ended: number[] = []
      for (const set of setsOf(place)) {
        ended.push(...(await this.#scheduler.sets.moveEach(lane, set, ids, as)))
      }
      return ended
    }
    if (place !== 'busy' && place !== 'queue' && piece) {
      return await this.#scheduler.queues.endQueued({ lane, band: place, ...piece, ids }, as)
    }
    const ended: number[] = []
    for (const { job } of found) if (await this.#scheduler.admin.cancel(job, as)) ended.push(job.id)
    return ended
  }

  /** Moves scheduled or dead jobs to their destination; returns how many were still there. */
  async fromSets(
    lane: string,
    place: 'scheduled' | 'dead',
    found: readonly FoundJob[],
    to: SetExit,
  ): Promise<number> {
    const ids = found.map(({ job }) => job.id)
    let moved = 0
    for (const set of setsOf(place)) moved += await this.#scheduler.sets.moveOf(lane, set, ids, to)
    return moved
  }
}

function setsOf(place: 'scheduled' | 'dead'): readonly JobSet[] {
  return place === 'dead' ? ['dead'] : ['scheduled', 'retries']
}
