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
    const indexed = [...lane.unique.values(), ...lane.jids.values()]
    for (const id of [...places.keys(), ...indexed]) {
      if (!lane.job(id, nowMs)) found.push(`${lane.lane}: ${id} has no record`)
    }
    for (const job of lane.all()) {
      const expected = expectedOf(job)
      const actual = (places.get(job.id) ?? []).join(' and ') || 'nowhere'
      if (expected && !expected.includes(actual)) {
        found.push(`${lane.lane}: ${job.status} job ${job.id} stands ${actual}`)
      }
    }
  }
  return found
}

function placesOf(lane: MemoryLane): Map<number, string[]> {
  const places = new Map<number, string[]>()
  const note = (id: number, place: string): void => {
    places.set(id, [...(places.get(id) ?? []), place])
  }
  for (const band of bands) for (const id of lane.queues[band]) note(id, 'queued')
  for (const id of lane.scheduled.keys()) note(id, 'scheduled')
  for (const id of lane.busy.keys()) note(id, 'reserved')
  for (const id of lane.dead) note(id, 'dead')
  return places
}

/** Places allowed by a record's status; native programs move their jobs step by step. */
function expectedOf(job: MemoryJob): string[] | undefined {
  if (job.status === 'busy') return job.token === undefined ? ['nowhere'] : ['reserved']
  if (job.status === 'idle') {
    return ['queued', 'scheduled', ...(job.door === 'native' ? ['nowhere'] : [])]
  }
  return job.status === 'error' ? ['nowhere', 'dead'] : ['nowhere']
}
