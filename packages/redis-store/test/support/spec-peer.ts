import type { NativePeer } from '@crossgear/store-testkit'
import type { Connection } from '../../src/connection/connection.ts'

/** A GearMonkey client and worker in the plain commands of the protocol's text, in a cluster with its braces. */
export class SpecPeer implements NativePeer {
  readonly #redis: Connection
  readonly #name: (lane: string) => string

  constructor(redis: Connection) {
    this.#redis = redis
    this.#name = (lane) => (redis.isCluster ? `{${lane}}` : lane)
  }

  async write(lane: string, input: Uint8Array): Promise<number> {
    const id = await this.#redis.incr(`uid:${this.#name(lane)}`)
    await this.#redis.hmset(
      `job:${this.#name(lane)}:${id}`,
      'status',
      'idle',
      'input',
      Buffer.from(input),
    )
    await this.#redis.publish(`channel:${this.#name(lane)}`, `create:${id}`)
    return id
  }

  async push(lane: string, id: number, band: string): Promise<void> {
    await this.#redis.lpush(`queue:${this.#name(lane)}:${band}`, id)
  }

  async schedule(lane: string, id: number, dueInMs: number): Promise<void> {
    const server = 'nodes' in this.#redis ? this.#redis.nodes('master')[0] : this.#redis
    const [seconds = 0] = (await server?.time()) ?? []
    await this.#redis.zadd(
      `queue:${this.#name(lane)}:scheduled`,
      Number(String(seconds)) + dueInMs / 1000,
      id,
    )
  }

  async pop(lane: string): Promise<number | undefined> {
    const lists = ['high', 'normal', 'low'].map((band) => `queue:${this.#name(lane)}:${band}`)
    for (const list of lists) {
      const id = await this.#redis.rpop(list)
      if (id !== null) return Number(id)
    }
    return undefined
  }

  async take(lane: string): Promise<number | undefined> {
    const id = await this.pop(lane)
    if (id === undefined) return undefined
    await this.#redis.publish(`channel:${this.#name(lane)}`, `start:${id}`)
    await this.#redis.hmset(`job:${this.#name(lane)}:${id}`, 'status', 'busy')
    return id
  }

  async progress(lane: string, id: number, dividend: string, divisor: string): Promise<void> {
    const fields = { 'status:dividend': dividend, 'status:divisor': divisor }
    await this.#redis.hmset(`job:${this.#name(lane)}:${id}`, fields)
  }

  async finish(lane: string, id: number, status: string, output: Uint8Array): Promise<void> {
    await this.conclude(lane, id, status, output)
    await this.retain(lane, id)
    await this.#redis.publish(`channel:${this.#name(lane)}`, `finish:${id}`)
    await this.#redis.lpush(`lock:${this.#name(lane)}:${id}`, 'OK')
    await this.#redis.expire(`lock:${this.#name(lane)}:${id}`, 10)
  }

  async conclude(lane: string, id: number, status: string, output: Uint8Array): Promise<void> {
    const job = `job:${this.#name(lane)}:${id}`
    await this.#redis.hmset(job, 'status', status, 'output', Buffer.from(output))
  }

  async retain(lane: string, id: number): Promise<void> {
    await this.#redis.expire(`job:${this.#name(lane)}:${id}`, 90_000)
  }

  async count(lane: string, change: 1 | -1): Promise<void> {
    if (change === 1) await this.#redis.incr(`count:${this.#name(lane)}`)
    else await this.#redis.decr(`count:${this.#name(lane)}`)
  }

  locks(lane: string, id: number): Promise<number> {
    return this.#redis.llen(`lock:${this.#name(lane)}:${id}`)
  }
}
