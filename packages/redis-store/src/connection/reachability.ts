import { StoreError } from '@crossgear/core-scheduler'
import type { Redis } from 'ioredis'
import { tellsNothing } from './errors.ts'
import type { Events } from './events.ts'
import { checkHealth, whyAway } from './health.ts'
import type { RedisContext } from './redis-context.ts'

/** Tracks if both connections to the store are there, and notifies the listener of changes. */
export class Reachability {
  readonly #context: RedisContext
  readonly #eventRedis: Redis
  readonly #events: Events
  #isUp = true
  /** The last error, while the store is down. */
  #lastWords = ''

  constructor(context: RedisContext, eventRedis: Redis, events: Events) {
    this.#context = context
    this.#eventRedis = eventRedis
    this.#events = events
    for (const redis of [context.redis, eventRedis]) {
      redis.on('error', (error: Error) => {
        this.#isDown(error.message)
        if (!tellsNothing(error)) this.#lastWords = error.message
      })
      redis.on('close', () => this.#isDown('connection closed'))
      redis.on('ready', () => this.#mayBeUp())
    }
  }

  /** Resolves when the store takes jobs; throws what keeps it from it. */
  async check(): Promise<void> {
    try {
      await checkHealth(this.#context, this.#eventRedis)
    } catch (error) {
      if (this.#isUp) throw error
      throw new StoreError('UNREACHABLE', await whyAway(this.#eventRedis, this.#lastWords), {
        cause: error,
      })
    }
  }

  #isDown(reason: string): void {
    if (!this.#isUp) return
    this.#isUp = false
    this.#lastWords = reason
    this.#events.listener?.down(reason)
  }

  #mayBeUp(): void {
    const ready = this.#context.redis.status === 'ready' && this.#eventRedis.status === 'ready'
    if (this.#isUp || !ready) return
    this.#isUp = true
    this.#events.listener?.up()
  }
}
