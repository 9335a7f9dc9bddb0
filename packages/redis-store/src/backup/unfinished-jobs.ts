import type { Level } from '@crossgear/core-scheduler'
import { storeErrorOf } from '../connection/errors.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import { timeOf } from '../jobs/job-fields.ts'

/** Keys per look, about 2 ms of the server's time. */
const keysPerLook = 1_000
/** Ids of a list per call. */
const idsPerCall = 10_000

/** An unfinished job, without what it holds. */
export interface UnfinishedJob {
  readonly lane: string
  readonly id: number
  /** Bytes of its payload. */
  readonly bytes: number
  /** When it was last queued, milliseconds since 1970; 0 for a job of a native client. */
  readonly enqueuedAtMs: number
  /** True if only its list tells its level. */
  readonly isNative: boolean
}

/**
 * Walks all unfinished jobs, in no order. One that exists from the first call to the last is
 * returned, perhaps more than once.
 */
export async function* unfinishedJobs(
  context: RedisContext,
): AsyncGenerator<readonly UnfinishedJob[]> {
  for (const server of context.masters()) {
    let cursor = '0'
    do {
      const from = cursor
      const [next, found] = await context.call(() =>
        server.scan(from, 'MATCH', 'job:*', 'COUNT', keysPerLook),
      )
      cursor = next
      const byLane = new Map<string, number[]>()
      for (const key of found) {
        const { lane, id } = context.keys.jobOf(key) ?? {}
        if (lane === undefined || id === undefined) continue
        const ids = byLane.get(lane)
        if (ids) ids.push(id)
        else byLane.set(lane, [id])
      }
      for (const [lane, ids] of byLane) yield await look(context, lane, ids)
    } while (cursor !== '0')
  }
}

async function look(
  { redis, keys, call }: RedisContext,
  lane: string,
  ids: readonly number[],
): Promise<readonly UnfinishedJob[]> {
  const pipeline = redis.pipeline()
  for (const id of ids) {
    const key = keys.job(lane, id)
    pipeline.hmget(key, 'status', 'enqueued', 'door')
    pipeline.hstrlen(key, 'input')
    pipeline.zscore(keys.dead(lane), id)
  }
  const replies = (await call(() => pipeline.exec())) ?? []
  const found: UnfinishedJob[] = []
  for (const [at, id] of ids.entries()) {
    const [fields, bytes, dead] = replies.slice(3 * at, 3 * at + 3)
    // Another program may have put another type there.
    if (fields?.[0]) continue
    if (dead?.[0]) throw storeErrorOf(dead[0])
    const [status, enqueued, door] = fields?.[1] as readonly (string | null)[]
    const isDead = status === 'error' && dead?.[1] !== null
    if (status !== 'idle' && status !== 'busy' && !isDead) continue
    found.push({
      lane,
      id,
      bytes: Number(bytes?.[1]),
      enqueuedAtMs: timeOf(Buffer.from(enqueued ?? '')) ?? 0,
      isNative: door === null && status === 'idle',
    })
  }
  return found
}

/** Lists that give the jobs of native clients their level. */
const listLevels = [
  ['high', 8],
  ['low', 2],
] as const

/** Levels of ids in the lists of a lane, where these are not the usual one. */
export async function listedLevels(
  { redis, keys, call }: RedisContext,
  lane: string,
): Promise<ReadonlyMap<number, Level>> {
  const levels = new Map<number, Level>()
  for (const [band, level] of listLevels) {
    const key = keys.queue(lane, band)
    for (let first = 0, isMore = true; isMore; first += idsPerCall) {
      const from = first
      const ids = await call(() => redis.lrange(key, from, from + idsPerCall - 1))
      for (const id of ids) levels.set(Number(id), level)
      isMore = ids.length === idsPerCall
    }
  }
  return levels
}
