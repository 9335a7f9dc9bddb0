import { chunks } from '../chunks.ts'
import type { RedisContext } from '../connection/redis-context.ts'

/** Lanes whose marks are read in one command, some 100 us of the store's time. */
const marksPerCommand = 256
/** Leases without a deadline have scores from here on: see noDeadline in leases.lua. */
const noDeadlineMs = 8e15

/** Per lane its last id and its workers: a native client takes an id for each job, a native worker counts itself. */
export async function marksOf(
  { call, redis, keys, isCluster }: RedisContext,
  lanes: readonly string[],
): Promise<readonly string[]> {
  const marks: string[] = []
  for (const some of chunks(lanes, isCluster ? 1 : marksPerCommand)) {
    const found = await call(() =>
      redis.mget(some.flatMap((lane) => [keys.uid(lane), keys.count(lane)])),
    )
    for (const [uid, count] of chunks(found, 2)) marks.push(`${uid ?? ''} ${count ?? ''}`)
  }
  return marks
}

/** Notes when the first lease or dead job of each lane ends, unless an earlier time is noted. */
export async function noteDeadlines(
  { call, redis, keys, eachLane }: RedisContext,
  lanes: readonly string[],
): Promise<void> {
  const ends: (string | number)[] = []
  const leases = await eachLane(lanes, (commands, lane) =>
    commands.zrange(keys.busy(lane), '0', '0', 'WITHSCORES'),
  )
  const dead = await eachLane(lanes, (commands, lane) =>
    commands.zrange(keys.dead(lane), '0', '0', 'WITHSCORES'),
  )
  for (const [at, lane] of lanes.entries()) {
    const firstMs = Math.min(scoreOf(leases[at]), scoreOf(dead[at]))
    if (firstMs < noDeadlineMs) ends.push(firstMs, lane)
  }
  if (ends.length > 0) await call(() => redis.zadd(keys.deadlines, 'LT', ...ends))
}

function scoreOf(reply: unknown): number {
  return Number((reply as string[])[1] ?? Infinity)
}
