import { GearMonkeyWorker } from '@crossgear/gearmonkey-redis'
import type { Cluster, Redis } from 'ioredis'
import type { Work } from '../work.ts'
import type { PeerWorker } from '../worker.ts'

/** Works straight from Redis, as GearMonkey programs do. */
export class NativeWorker implements PeerWorker {
  readonly #redis: Redis | Cluster
  readonly #worker: GearMonkeyWorker
  readonly #lanes: readonly string[]
  readonly #concurrency: number
  readonly #work: Work

  constructor(redis: Redis | Cluster, lanes: readonly string[], concurrency: number, work: Work) {
    this.#redis = redis
    this.#worker = new GearMonkeyWorker(redis, { onError: () => undefined })
    this.#lanes = lanes
    this.#concurrency = concurrency
    this.#work = work
  }

  start(): void {
    for (const lane of this.#lanes) void this.#accept(lane)
  }

  async stop(): Promise<void> {
    await this.#worker.stop()
    this.#redis.disconnect()
  }

  async #accept(lane: string): Promise<void> {
    const run = async ({ input }: { input: Buffer }): Promise<string> => {
      const key = input.toString()
      await this.#work.run(key, 'store')
      return key
    }
    await this.#worker.accept(lane, run, { concurrency: this.#concurrency })
  }
}
