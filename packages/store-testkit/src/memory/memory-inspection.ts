import {
  searchedBytes,
  type InspectStore,
  type PlacedJob,
  type PlacePage,
  type PlaceRequest,
  type Standing,
} from '@crossgear/core-scheduler'
import { farMs, type MemoryLane } from './memory-lane.ts'
import { idsIn } from './lanes/clearing.ts'
import { MemoryPart } from './memory-part.ts'

/** Looks of an operator at a {@link MemoryWorld}. */
export class MemoryInspection extends MemoryPart implements InspectStore {
  page({ lane: name, place, from, count, text }: PlaceRequest): Promise<PlacePage> {
    return this.step((world) => {
      const lane = world.lane(name)
      const times = timesOf(lane, place)
      const all = idsIn(lane, place)
      const ordered = times
        ? [...all].sort((a, b) => (times.get(a) ?? 0) - (times.get(b) ?? 0))
        : all
      const ids = ordered.slice(from, from + count)
      let unsearched = 0
      const jobs = ids.flatMap((id, offset): PlacedJob[] => {
        const job = lane.job(id, world.nowMs())
        const atMs = times?.get(id)
        const placed = { id, offset, ...(atMs !== undefined && { atMs }) }
        if (!text || job?.failure?.includes(Buffer.from(text).toString())) return [placed]
        if (job && job.input.length > searchedBytes) unsearched += 1
        else if (job?.input.includes(Buffer.from(text))) return [placed]
        return []
      })
      return { jobs, seen: ids.length, unsearched, more: from + ids.length < all.length }
    })
  }

  standing(name: string, id: number): Promise<Standing | undefined> {
    return this.step((world) => {
      const lane = world.lane(name)
      const job = lane.job(id, world.nowMs())
      if (!job) return undefined
      const sizes = { inputBytes: job.input.length, outputBytes: job.output?.length ?? 0 }
      for (const place of ['busy', 'scheduled'] as const) {
        const atMs = lane[place].get(id)
        const isWaiting = place === 'scheduled' && (atMs ?? 0) >= farMs
        if (atMs !== undefined && !isWaiting) return { place, atMs, ...sizes }
      }
      return { place: lane.dead.includes(id) ? 'dead' : 'queue', ...sizes }
    })
  }
}

/** By when jobs stand in a place that is in order of time. */
function timesOf(lane: MemoryLane, place: string): ReadonlyMap<number, number> | undefined {
  return place === 'busy' || place === 'scheduled' ? lane[place] : undefined
}
