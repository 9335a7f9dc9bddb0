import { bands, type JobPlace } from '@crossgear/core-scheduler'
import { endJob } from '../jobs/finish.ts'
import type { MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'

interface Clearing {
  readonly places: readonly JobPlace[]
  readonly max: number
  /** Jobs that only an index names go too, and jobs that come meanwhile, as the callback of a batch may. */
  readonly isAll: boolean
}

/** Ends up to `max` jobs in these places of a lane. */
export function endPlaces(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  { places, max, isAll }: Clearing,
): number[] {
  const ended: number[] = []
  const end = (ids: readonly number[]): void => {
    for (const id of ids) {
      takeOut(lane, id)
      const job = lane.job(id, world.nowMs())
      if (job) endJob(world, node, lane, job, 'error', Buffer.alloc(0))
    }
    ended.push(...ids)
  }
  for (;;) {
    const before = ended.length
    const standing = places.flatMap((place) => idsIn(lane, place)).slice(0, max - before)
    end(standing)
    lane.bookTaken('deleted', standing.length)
    if (!isAll) return ended
    if (standing.length === 0) end(lane.indexed().slice(0, max - before))
    if (ended.length === before || ended.length >= max) return ended
  }
}

/** Jobs in a place of a lane. */
export function idsIn(lane: MemoryLane, place: JobPlace): readonly number[] {
  switch (place) {
    case 'high':
    case 'low':
      return [...lane.queues[place]]
    case 'normal':
      return [...lane.queues.normal, ...lane.scheduledIds(true)]
    case 'scheduled':
      return lane.scheduledIds(false)
    case 'busy':
      return [...lane.busy.keys()]
    case 'dead':
      return [...lane.dead]
  }
}

/** Takes a job out of its place. */
export function takeOut(lane: MemoryLane, id: number): void {
  lane.scheduled.delete(id)
  lane.busy.delete(id)
  for (const list of [lane.dead, ...bands.map((band) => lane.queues[band])]) {
    const at = list.indexOf(id)
    if (at >= 0) list.splice(at, 1)
  }
}
