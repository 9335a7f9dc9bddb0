import { bandLevel, bands, type Level } from '@crossgear/core-scheduler'
import type { ServerConnection, StoreKeys } from '@crossgear/redis-store'
import type { RecordState } from '../../record/record.ts'
import type { Place } from './places-source.ts'
import { scanKeys } from './redis-reads.ts'

/** Lists and sorted sets of a lane in reading order. */
const structures: readonly {
  readonly type: Place['type']
  readonly state: RecordState
  readonly key: (keys: StoreKeys, lane: string) => string
  /** For jobs without one. */
  readonly level?: Level
}[] = [
  { type: 'zset', state: 'working', key: (keys, lane) => keys.busy(lane) },
  ...bands.map((band) => ({
    type: 'list' as const,
    state: 'queued' as const,
    level: bandLevel[band],
    key: (keys: StoreKeys, lane: string) => keys.queue(lane, band),
  })),
  { type: 'zset', state: 'scheduled', key: (keys, lane) => keys.queue(lane, 'scheduled') },
  { type: 'zset', state: 'dead', key: (keys, lane) => keys.dead(lane) },
]

/** Keys per request. */
const keysAtOnce = 1_000

/** A list or sorted set of a lane. */
export interface LanePlace {
  readonly lane: string
  readonly place: Place
  readonly level?: Level
}

/** Existing lists and sets. */
export async function lanePlacesOf(
  redis: ServerConnection,
  keys: StoreKeys,
): Promise<readonly LanePlace[]> {
  const registered = await redis.hkeys(keys.lanes)
  const counted = (await scanKeys(redis, keys.uid('*'))).map((key) => keys.laneOf(key))
  const all = [...new Set([...registered, ...counted])].sort().flatMap((lane) =>
    structures.map(({ type, state, key, level }): LanePlace => {
      const place = { type, state, key: key(keys, lane) }
      return { lane, place, ...(level !== undefined && { level }) }
    }),
  )
  const found: LanePlace[] = []
  for (let first = 0; first < all.length; first += keysAtOnce) {
    const some = all.slice(first, first + keysAtOnce)
    const types = await Promise.all(some.map(({ place }) => redis.type(place.key)))
    found.push(...some.filter(({ place }, at) => types[at] === place.type))
  }
  return found
}
