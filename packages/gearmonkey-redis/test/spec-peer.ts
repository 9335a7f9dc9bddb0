import type { Redis } from 'ioredis'
import type { NativePeer } from '@crossgear/core-scheduler/testing'

/** A GearMonkey client and worker in the plain commands of the protocol's text. */
export class SpecPeer implements NativePeer {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async write(lane: string, input: Uint8Array): Promise<number> {
    const id = await this.#redis.incr(`uid:${lane}`)
    await this.#redis.hmset(`job:${lane}:${id}`, 'status', 'idle', 'input', Buffer.from(input))
    await this.#redis.publish(`channel:${lane}`, `create:${id}`)
    return id
  }

  async push(lane: string, id: number, band: string): Promise<void> {
    await this.#redis.lpush(`queue:${lane}:${band}`, id)
  }

  async schedule(lane: string, id: number, dueInMs: number): Promise<void> {
    const [seconds] = await this.#redis.time()
    await this.#redis.zadd(`queue:${lane}:scheduled`, Number(seconds) + dueInMs / 1000, id)
  }

  async take(lane: string): Promise<number | undefined> {
    const lists = ['high', 'normal', 'low'].map((band) => `queue:${lane}:${band}`)
    for (const list of lists) {
      const id = await this.#redis.rpop(list)
      if (id === null) continue
      await this.#redis.publish(`channel:${lane}`, `start:${id}`)
      await this.#redis.hmset(`job:${lane}:${id}`, 'status', 'busy')
      return Number(id)
    }
    return undefined
  }

  async progress(lane: string, id: number, dividend: string, divisor: string): Promise<void> {
    const fields = { 'status:dividend': dividend, 'status:divisor': divisor }
    await this.#redis.hmset(`job:${lane}:${id}`, fields)
  }

  async finish(lane: string, id: number, status: string, output: Uint8Array): Promise<void> {
    const job = `job:${lane}:${id}`
    await this.#redis.hmset(job, 'status', status, 'output', Buffer.from(output))
    await this.#redis.expire(job, 90_000)
    await this.#redis.publish(`channel:${lane}`, `finish:${id}`)
    await this.#redis.lpush(`lock:${lane}:${id}`, 'OK')
    await this.#redis.expire(`lock:${lane}:${id}`, 10)
  }

  async count(lane: string, change: 1 | -1): Promise<void> {
    if (change === 1) await this.#redis.incr(`count:${lane}`)
    else await this.#redis.decr(`count:${lane}`)
  }

  locks(lane: string, id: number): Promise<number> {
    return this.#redis.llen(`lock:${lane}:${id}`)
  }
}
