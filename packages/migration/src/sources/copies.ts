import { hash } from 'node:crypto'
import type { ServerConnection } from '@crossgear/redis-store'
import { averageBytes } from './redis/redis-reads.ts'

const membersAtOnce = 1_000
const bytesAtOnce = 8 * 1024 * 1024
/** Hash buckets, a byte each, used before any hash is remembered. */
const maxBuckets = 2 ** 24
const bucketsPerMember = 16

/**
 * Numbers equal members of a list by how many stand behind them, so that a number stays when older
 * ones leave. Unique members take a few bytes at most.
 */
export class Copies {
  readonly #redis: ServerConnection
  /** By hash: how many are to come. */
  #left = new Map<number, number>()

  constructor(redis: ServerConnection) {
    this.#redis = redis
  }

  /** Counts the members of a list, the oldest at the left, from an offset on. */
  async count(key: string, offset: number): Promise<void> {
    const members = await this.#redis.llen(key)
    const buckets = new Uint8Array(Math.min(maxBuckets, members * bucketsPerMember + 1))
    for await (const hashed of this.#hashes(key, offset)) {
      const bucket = hashed % buckets.length
      if ((buckets[bucket] ?? 0) < 2) buckets[bucket] = (buckets[bucket] ?? 0) + 1
    }
    this.#left = new Map()
    for await (const hashed of this.#hashes(key, offset)) {
      if (buckets[hashed % buckets.length] === 2) {
        this.#left.set(hashed, (this.#left.get(hashed) ?? 0) + 1)
      }
    }
  }

  /** The number of the next member, in the order of the list. */
  next(raw: Buffer): number {
    const hashed = hashOf(raw)
    const left = (this.#left.get(hashed) ?? 1) - 1
    if (this.#left.has(hashed)) this.#left.set(hashed, left)
    return left
  }

  async *#hashes(key: string, offset: number): AsyncGenerator<number> {
    const average = await averageBytes(this.#redis, { key, type: 'list' })
    const count = Math.max(1, Math.min(membersAtOnce, Math.floor(bytesAtOnce / average)))
    for (let first = offset; ; first += count) {
      const raws = await this.#redis.lrangeBuffer(key, first, first + count - 1)
      for (const raw of raws) yield hashOf(raw)
      if (raws.length < count) return
    }
  }
}

/** 48 bits of it. */
function hashOf(raw: Buffer): number {
  return hash('sha256', raw, 'buffer').readUIntBE(0, 6)
}
