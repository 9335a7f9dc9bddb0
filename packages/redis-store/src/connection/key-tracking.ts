import { StoreError } from '@crossgear/core-scheduler'
import type { Redis } from 'ioredis'
import type { Events } from './events.ts'
import type { RedisContext } from './redis-context.ts'

/** Called with a changed key; without one if any key may have changed. */
type OnChange = (key?: string) => void

/**
 * Reports which watched keys have changed. The server announces each once, on the connection for
 * events. If the server (before Redis 6) or the user cannot have that, nothing is watched.
 */
export class KeyTracking {
  readonly #context: RedisContext
  readonly #events: Events
  readonly #listeners: OnChange[] = []
  /** True if the server reports changes; absent until it was asked on these connections. */
  #isOn: Promise<boolean> | undefined

  constructor(context: RedisContext, eventRedis: Redis, events: Events) {
    this.#context = context
    this.#events = events
    // A change that was refused while one of them was away may be allowed when it is back.
    for (const redis of [context.redis, eventRedis]) {
      for (const change of ['close', 'ready']) redis.on(change, () => this.#reset())
    }
  }

  onChange(listener: OnChange): void {
    this.#listeners.push(listener)
  }

  /** Resolves when every change until now was reported; to false if none is reported. */
  async upToDate(): Promise<boolean> {
    const isOn = (this.#isOn ??= this.#turnOn())
    if (!(await isOn)) return false
    try {
      await this.#context.call(() => this.#events.ping())
    } catch (error) {
      // A frozen server answers nothing else either.
      if (error instanceof StoreError && error.code === 'TIMEOUT') throw error
      return false
    }
    // Not if a connection was lost meanwhile.
    return this.#isOn === isOn
  }

  /** Reports changes of the keys from this call on; false if it cannot. Commands sent next come after it. */
  async watch(keys: readonly string[]): Promise<boolean> {
    const { redis } = this.#context
    const [allowed, looked] = await Promise.allSettled([
      redis.call('CLIENT', 'CACHING', 'YES'),
      redis.exists([...keys]),
    ])
    return allowed.status === 'fulfilled' && looked.status === 'fulfilled'
  }

  async #turnOn(): Promise<boolean> {
    const { redis, isCluster } = this.#context
    if (isCluster) return false
    try {
      const client = await this.#events.listenForKeys((key) => this.#changed(key))
      if (client === undefined) return false
      await redis.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', client, 'OPTIN')
      return true
    } catch {
      return false
    }
  }

  #reset(): void {
    this.#isOn = undefined
    this.#changed()
  }

  #changed(key?: string): void {
    for (const listener of this.#listeners) listener(key)
  }
}
