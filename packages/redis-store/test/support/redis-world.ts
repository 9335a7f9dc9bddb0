import { Cluster, Redis } from 'ioredis'
import { placeOf } from '@crossgear/gearmonkey-redis/address'
import { SpecPeer } from '@crossgear/tools/spec-peer'
import type { NativePeer } from '@crossgear/tools/native-peer'
import type { StoreWorld, WorldOptions } from '../contract/store-world.ts'
import { RedisStore, type RedisStoreOptions, type StoreAddress } from '../../src/index.ts'
import { checkInvariants } from '../../src/invariants/invariants.ts'
import type { Connection } from '../../src/connection/connection.ts'
import { StoreKeys } from '../../src/keys.ts'
import { ageKeys } from './age-keys.ts'

/** The time of a store and its nodes, where a test moves it. */
export interface WorldTime {
  /** The clock of the nodes' machines. */
  readonly machine: { nowMs(): number }
  /** Another millisecond begins: looks at a clock that stands still fill one up. */
  nextMs(): void
  pass(ms: number): Promise<void>
}

/** Nodes on a server or a cluster. Where time passes by itself, all that the store holds is made older instead. */
export class RedisWorld implements StoreWorld {
  readonly redis: Connection
  readonly #keys: StoreKeys
  readonly native: NativePeer
  readonly #address: StoreAddress
  readonly #options: WorldOptions
  readonly #time: WorldTime | undefined
  readonly #stores: RedisStore[] = []
  readonly #ears: Connection[] = []

  private constructor(address: StoreAddress, options: WorldOptions, time?: WorldTime) {
    this.#address = address
    this.#options = options
    this.#time = time
    this.redis = rawConnection(address)
    this.#keys = new StoreKeys(this.redis.isCluster)
    this.native = new SpecPeer(this.redis)
  }

  /** Empties the store first. */
  static async open(
    address: StoreAddress,
    options: WorldOptions = {},
    time?: WorldTime,
  ): Promise<RedisWorld> {
    const world = new RedisWorld(address, options, time)
    await world.redis.exists('anything') // in a cluster there are no servers before the first answer
    await Promise.all(serversOf(world.redis).map((server) => server.flushall()))
    return world
  }

  /** The server, if there is only one. */
  get server(): Redis {
    if ('nodes' in this.redis) throw new Error('many servers')
    return this.redis
  }

  async node(options: Pick<RedisStoreOptions, 'graceMs' | 'nodeName'> = {}): Promise<RedisStore> {
    const clock = this.#time?.machine
    const store = new RedisStore(this.#address, {
      ...this.#options,
      ...(clock && { clock }),
      ...options,
    })
    this.#stores.push(store)
    await store.open()
    this.#time?.nextMs()
    return store
  }

  async hear(lane?: string): Promise<readonly string[]> {
    const ear = rawConnection(this.#address)
    this.#ears.push(ear)
    const heard: string[] = []
    const listen = (channel: string, event: string): void => {
      heard.push(`${this.#keys.laneOfChannel(channel)} ${event}`)
    }
    ear.on('message', listen)
    ear.on('pmessage', (_pattern, channel: string, event: string) => listen(channel, event))
    const channel = this.#keys.channel(lane ?? '*')
    await (lane === undefined ? ear.psubscribe(channel) : ear.subscribe(channel))
    return heard
  }

  async pass(ms: number): Promise<void> {
    if (!this.#time) {
      await Promise.all(serversOf(this.redis).map((server) => ageKeys(server, ms)))
      return
    }
    await this.#time.pass(ms)
    this.#time.nextMs()
  }

  async replaceData(): Promise<void> {
    const replicationIds = await this.redis.zrange(this.#keys.epochs, '0', '-1')
    for (const id of replicationIds) await this.redis.zrem(this.#keys.epochs, id)
  }

  async secondsLeft(lane: string, id: number): Promise<number | undefined> {
    const left = await this.redis.pttl(this.#keys.job(lane, id))
    if (left === -2) return undefined
    return left === -1 ? Infinity : Math.ceil(left / 1000)
  }

  async expire(lane: string, id: number): Promise<void> {
    await this.redis.del(this.#keys.job(lane, id))
  }

  async limit(lane: string, max: Readonly<Record<string, number>>): Promise<void> {
    const fields = Object.entries(max).flatMap(([band, limit]) => [`max:${band}`, limit])
    await this.redis.hset(this.#keys.meta(lane), ...fields)
  }

  violations(): Promise<readonly string[]> {
    const { names } = this.#options
    return checkInvariants(this.redis, { native: true, ...(names ? { names } : {}) })
  }

  async close(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()))
    for (const connection of [this.redis, ...this.#ears]) connection.disconnect()
  }
}

export function rawConnection(address: StoreAddress): Connection {
  if ('nodes' in address) {
    const cluster = new Cluster([...address.nodes], { redisOptions: { protocol: 2 } })
    // Tests take its servers away.
    cluster.on('error', () => undefined)
    return cluster
  }
  if ('sentinels' in address) throw new Error('no world on Sentinels')
  return new Redis({ ...placeOf(address), protocol: 2 })
}

/** The servers with slots. */
function serversOf(redis: Connection): readonly Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis]
}
