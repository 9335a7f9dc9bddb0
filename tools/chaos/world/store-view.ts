import type { Cluster, Redis } from 'ioredis'
import { StoreKeys } from '@crossgear/redis-store'
import { keyOf } from '../peers/protocols/faktory-client.ts'

/** A job that the store has. */
export interface StoredJob {
  /** The submission's key, which is its payload or in its jid. */
  readonly key: string
  readonly lane: string
  readonly id: string
  readonly status: string
  /** Places of its id: queue, scheduled, busy, dead; none for a finished job. */
  readonly places: readonly string[]
  /** True if clients wait for it. */
  readonly isAwaited: boolean
  /** True if it expires. */
  readonly expires: boolean
}

/** The contents of the store. */
export interface Snapshot {
  readonly jobs: readonly StoredJob[]
  /** Keys and fields that must be gone at the end, one line each. */
  readonly leftovers: readonly string[]
}

const bands = ['high', 'normal', 'low'] as const
/** The answer of TTL for a key that does not exist. */
const absent = -2
/** Levels of jobs that may wait beside their band's list. */
const levels = [9, 7, 6, 4, 3, 1]

/** Looks at the store from outside, by documented keys. */
export class StoreView {
  readonly #redis: Redis | Cluster
  readonly #keys: StoreKeys
  readonly #lanes: readonly string[]

  constructor(
    redis: Redis | Cluster,
    lanes: readonly string[],
    keys = new StoreKeys(redis.isCluster),
  ) {
    this.#redis = redis
    this.#lanes = lanes
    this.#keys = keys
  }

  /** Jobs in queues, schedules and leases. */
  async unfinished(): Promise<number> {
    let sum = 0
    for (const lane of this.#lanes) {
      const pipeline = this.#redis.pipeline()
      for (const band of bands) pipeline.llen(this.#keys.queue(lane, band))
      for (const level of levels) pipeline.llen(this.#keys.level(lane, level))
      pipeline.zcard(this.#keys.queue(lane, 'scheduled'))
      pipeline.zcard(this.#keys.busy(lane))
      for (const [, count] of (await pipeline.exec()) ?? []) sum += Number(count)
    }
    return sum
  }

  /** Unfinished jobs in no place: native programs hold them, or left them behind. */
  async unplaced(): Promise<number> {
    const { jobs } = await this.snapshot()
    return jobs.filter(({ status, places }) => isUnfinished(status) && places.length === 0).length
  }

  /** @param strayCounts native workers that died: a count may stay for each */
  async snapshot(strayCounts = 0): Promise<Snapshot> {
    const jobs: StoredJob[] = []
    for (const lane of this.#lanes) jobs.push(...(await this.#jobsOf(lane)))
    return { jobs, leftovers: await this.leftovers(strayCounts) }
  }

  async leftovers(strayCounts: number): Promise<string[]> {
    const found: string[] = []
    for (const lane of this.#lanes) found.push(...(await this.#leftoversOf(lane, strayCounts)))
    for (const key of this.#keys.allJids()) {
      const jids = await this.#redis.hlen(key)
      if (jids > 0) found.push(`${key}: ${jids} jids of no job`)
    }
    return found
  }

  async #jobsOf(lane: string): Promise<StoredJob[]> {
    const places = await this.#placesOf(lane)
    const found: StoredJob[] = []
    for (const ids of chunked(await this.#idsOf(lane), 500)) {
      const pipeline = this.#redis.pipeline()
      for (const id of ids) {
        pipeline.hmget(this.#keys.job(lane, id), 'status', 'input', 'wait', 'jid')
        pipeline.ttl(this.#keys.job(lane, id))
      }
      const replies = (await pipeline.exec()) ?? []
      for (const [at, id] of ids.entries()) {
        const fields = (replies[2 * at]?.[1] ?? []) as (string | null)[]
        const ttl = Number(replies[2 * at + 1]?.[1])
        // Expired since its key was listed.
        if (ttl === absent) continue
        found.push({
          lane,
          id,
          key: keyOf(fields[3] ?? '', fields[1] ?? ''),
          status: fields[0] ?? '',
          places: places.get(id) ?? [],
          isAwaited: Boolean(fields[2]),
          expires: ttl >= 0,
        })
      }
    }
    return found
  }

  async #placesOf(lane: string): Promise<Map<string, string[]>> {
    const places = new Map<string, string[]>()
    const add = (place: string, ids: readonly string[]): void => {
      for (const id of ids) places.set(id, [...(places.get(id) ?? []), place])
    }
    for (const band of bands)
      add(band, await this.#redis.lrange(this.#keys.queue(lane, band), 0, -1))
    for (const level of levels)
      add(`level ${level}`, await this.#redis.lrange(this.#keys.level(lane, level), 0, -1))
    const sets = {
      scheduled: this.#keys.queue(lane, 'scheduled'),
      busy: this.#keys.busy(lane),
      dead: this.#keys.dead(lane),
    }
    for (const [place, key] of Object.entries(sets))
      add(place, await this.#redis.zrange(key, '0', '-1'))
    return places
  }

  async #idsOf(lane: string): Promise<string[]> {
    const ids = new Set<string>()
    const pattern = this.#keys.job(escapeGlob(lane), '*')
    for (const server of 'nodes' in this.#redis ? this.#redis.nodes('master') : [this.#redis]) {
      let cursor = '0'
      do {
        const [next, keys] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', 2_000)
        for (const key of keys) ids.add(key.slice(key.lastIndexOf(':') + 1))
        cursor = next
      } while (cursor !== '0')
    }
    return [...ids]
  }

  async #leftoversOf(lane: string, strayCounts: number): Promise<string[]> {
    const keys = this.#keys
    const found: string[] = []
    const sizes = {
      'coalescing keys': await this.#redis.hlen(keys.unique(lane)),
      jids: await this.#redis.hlen(keys.jid(lane)),
    }
    for (const [what, size] of Object.entries(sizes)) {
      if (size > 0) found.push(`${lane}: ${size} ${what} of no job`)
    }
    const count = Number((await this.#redis.get(keys.count(lane))) ?? 0)
    if (count < 0 || count > strayCounts)
      found.push(`${lane}: counts ${count} workers and has none`)
    return found
  }
}

export function isUnfinished(status: string): boolean {
  return status === 'idle' || status === 'busy'
}

function escapeGlob(text: string): string {
  return text.replaceAll(/[*?[\]\\]/g, '\\$&')
}

function* chunked<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
