import { bands } from '@crossgear/core-scheduler'
import type { MemoryJob } from './memory-job.ts'
import type { MemoryLane } from './memory-lane.ts'

/** Jobs in lanes that are not registered, ids without a record, and records whose ids are in none or several places. */
export function violationsOf(
  lanes: Iterable<MemoryLane>,
  numbers: ReadonlyMap<string, number>,
  nowMs: number,
): string[] {
  const found: string[] = []
  for (const lane of lanes) {
    const places = placesOf(lane)
    const isOurs = (id: number): boolean => (lane.job(id, nowMs)?.door ?? 'native') !== 'native'
    if (!numbers.has(lane.lane) && [...places.keys()].some(isOurs)) {
      found.push(`${lane.lane}: has jobs and is not registered`)
    }
    for (const ids of [places.keys(), lane.unique.values(), lane.jids.values()]) {
      for (const id of ids)
        if (!lane.job(id, nowMs)) found.push(`${lane.lane}: ${id} has no record`)
    }
    for (const job of lane.all()) {
      const actual = places.get(job.id) ?? 'nowhere'
      if (isAllowed(job, actual)) continue
      found.push(`${lane.lane}: ${job.status} job ${job.id} stands ${actual}`)
    }
  }
  return found
}

/** Each id's place; more than one are joined. */
function placesOf(lane: MemoryLane): Map<number, string> {
  const places = new Map<number, string>()
  const note = (id: number, place: string): void => {
    const other = places.get(id)
    places.set(id, other === undefined ? place : `${other} and ${place}`)
  }
  for (const band of bands) for (const id of lane.queues[band]) note(id, 'queued')
  for (const id of lane.scheduled.keys()) note(id, 'scheduled')
  for (const id of lane.busy.keys()) note(id, 'reserved')
  for (const id of lane.dead) note(id, 'dead')
  return places
}

/** True for a place that the record's status allows; native programs move their jobs step by step. */
function isAllowed({ status, token, door }: MemoryJob, place: string): boolean {
  if (status === 'busy') return place === (token === undefined ? 'nowhere' : 'reserved')
  if (status === 'idle') {
    return place === 'queued' || place === 'scheduled' || (door === 'native' && place === 'nowhere')
  }
  return place === 'nowhere' || (status === 'error' && place === 'dead')
}
