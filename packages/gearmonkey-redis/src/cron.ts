import type { Redis } from 'ioredis'
import type { CronStore } from '@crossgear/core-scheduler'
import type { Keys } from './keys.ts'

/** The steps of the store port about cron entries. */
export class RedisCron implements CronStore {
  readonly #redis: Redis
  readonly #keys: Keys
  readonly #call: <Reply>(send: () => Promise<Reply>) => Promise<Reply>

  constructor(
    redis: Redis,
    keys: Keys,
    call: <Reply>(send: () => Promise<Reply>) => Promise<Reply>,
  ) {
    this.#redis = redis
    this.#keys = keys
    this.#call = call
  }

  async entries(): Promise<ReadonlyMap<string, string>> {
    return new Map(Object.entries(await this.#call(() => this.#redis.hgetall(this.#keys.cron))))
  }

  async save(name: string, text: string): Promise<void> {
    await this.#call(() => this.#redis.hset(this.#keys.cron, name, text))
  }

  async remove(name: string): Promise<boolean> {
    return (await this.#call(() => this.#redis.hdel(this.#keys.cron, name))) === 1
  }

  async lastTick(lane: string, entry: string): Promise<number | undefined> {
    const ms = await this.#call(() => this.#redis.hget(this.#keys.ticks(lane), entry))
    return ms === null ? undefined : Number(ms)
  }
}
