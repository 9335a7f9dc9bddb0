import { chunks } from '../chunks.ts'
import type { RedisContext } from '../connection/redis-context.ts'

/** Lanes in one question, some 100 us of the store's time; where something is found, parts of it are asked about. */
const lanesAtOnce = 64
const lanesPerPart = 8
/** Questions under way. */
const questionsAtOnce = 2

/**
 * Leaves out lanes that have none of their keys, at a fifth of what a script for each would cost the store; of the
 * others some may have none either. In a cluster all are left in.
 */
export async function occupiedLanes(
  { redis, call, isCluster }: RedisContext,
  lanes: readonly string[],
  addKeys: (lane: string, keys: string[]) => void,
): Promise<readonly string[]> {
  if (isCluster) return lanes
  const look = async (some: readonly string[]): Promise<readonly string[]> => {
    const keys: string[] = []
    for (const lane of some) addKeys(lane, keys)
    const there = await call(() => redis.exists(keys))
    if (there === 0) return []
    if (some.length <= lanesPerPart) return some
    return (await Promise.all([...chunks(some, lanesPerPart)].map(look))).flat()
  }
  const found: string[] = []
  for (const some of chunks(lanes, questionsAtOnce * lanesAtOnce)) {
    const parts = await Promise.all([...chunks(some, lanesAtOnce)].map(look))
    for (const part of parts) found.push(...part)
  }
  return found
}
