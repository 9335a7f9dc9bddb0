import { LaneNames } from '@crossgear/core-scheduler'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { SpecPeer } from '@crossgear/tools/spec-peer'
import { OneAtATime } from './one-at-a-time.ts'
import { changeServer, RedisMark } from './redis-mark.ts'
import { RedisNode, type Turn } from './redis-node.ts'
import { RedisReads } from './redis-reads.ts'
import {
  excessOf,
  reserveForSeconds,
  resizeLanes,
  turnExcessOf,
  turnLanes,
  type Settings,
} from './settings.ts'
import { miscountsOf, type NodeWorkers, type SimNative, type SimStore } from './sim-store.ts'
import type { Timeline } from './timeline.ts'
import { type WorldConnection, WorldServer } from './world-server.ts'

/** The date at which each world begins, milliseconds since 1970. */
const epochMs = 1_700_000_000_000

/** Calls from one check of the invariants to the next: each reads all keys. */
const callsPerCheck = 100

/** Worlds on the real scripts, one after another on one server. */
export class RedisSimStores {
  readonly #server: WorldServer
  readonly #admin: WorldConnection
  #current: RedisSimStore | undefined

  private constructor(server: WorldServer) {
    this.#server = server
    this.#admin = server.redis.connect({ protocol: 2 })
  }

  static async start(): Promise<RedisSimStores> {
    return new RedisSimStores(await WorldServer.start())
  }

  /** The store of the next world: the last one ends. */
  readonly open = (timeline: Timeline, settings: Settings): SimStore => {
    const former = this.#current
    const parts = { server: this.#server, admin: this.#admin, timeline, settings }
    this.#current = new RedisSimStore(parts, async () => {
      await former?.close()
      await this.#admin.flushall()
    })
    return this.#current
  }

  async stop(): Promise<void> {
    await this.#current?.close()
    await this.#server.stop()
  }
}

interface Parts {
  readonly server: WorldServer
  readonly admin: WorldConnection
  readonly timeline: Timeline
  readonly settings: Settings
}

class RedisSimStore implements SimStore {
  readonly native: SimNative
  readonly #parts: Parts
  readonly #names: LaneNames
  readonly #calls = new OneAtATime()
  readonly #nodes = new Map<string, RedisNode>()
  readonly #reads: RedisReads
  #steppedMs = 0
  #sinceCheck = 0
  #restarts = 0

  constructor(parts: Parts, empty: () => Promise<void>) {
    this.#parts = parts
    this.#names = new LaneNames(parts.settings.homes)
    this.#reads = new RedisReads(parts.admin)
    void this.#calls.run(empty)
    const peer = Object.assign(new SpecPeer(parts.admin), {
      inputOf: (lane: string, id: number) => this.#reads.inputOf(lane, id),
    })
    this.native = new Proxy(peer, {
      get: (target, name) => {
        const method = target[name as keyof SimNative] as (...args: unknown[]) => Promise<unknown>
        return (...args: unknown[]) => this.#turn(() => method.apply(target, args))
      },
    })
    parts.timeline.settle = () => this.#calls.settled()
  }

  nowMs(): number {
    return epochMs + this.#steppedMs + this.#parts.timeline.nowMs
  }

  stepClock(ms: number): void {
    this.#steppedMs += ms
  }

  async join(name: string): Promise<RedisNode['store']> {
    const { server, timeline, settings } = this.#parts
    const options = {
      names: this.#names,
      throttles: settings.throttles,
      reserveForSeconds,
      nodeName: name,
      clock: { nowMs: () => epochMs + timeline.nowMs },
    }
    const leave = (): void => this.crash(name)
    const node = new RedisNode(server.redis.path, options, this.#turn, leave)
    await this.#turn(() => node.open())
    this.#nodes.set(name, node)
    return node.store
  }

  crash(name: string): void {
    const node = this.#nodes.get(name)
    if (node) void this.#calls.run(() => node.leave(this.#parts.admin))
  }

  mark(): () => void {
    const mark = this.#turn(() => RedisMark.of(this.#parts.admin))
    return () => void this.#turn(async () => (await mark).restore())
  }

  restart(): void {
    const { admin } = this.#parts
    this.#restarts += 1
    const first = (this.#restarts % 16).toString(16)
    void this.#turn(async () => {
      await changeServer(admin, first)
      await this.#dropConnections()
      for (const node of this.#nodes.values()) await node.connected()
    })
  }

  async violations(): Promise<readonly string[]> {
    this.#sinceCheck += 1
    if (this.#sinceCheck < callsPerCheck) return []
    this.#sinceCheck = 0
    return this.#calls.run(() => this.#violations())
  }

  leftovers(workers: NodeWorkers): Promise<readonly string[]> {
    return this.#turn(async () => [
      ...(await this.#violations()),
      ...(await this.#reads.leftovers()),
      ...miscountsOf(await this.#reads.workers(), workers),
    ])
  }

  unfinished(): Promise<readonly string[]> {
    return this.#turn(() => this.#reads.unfinished())
  }

  async close(): Promise<void> {
    for (const node of this.#nodes.values()) await node.close()
    this.#nodes.clear()
    // The server drops them now, not when it sees that they are closed.
    await this.#dropConnections()
  }

  async #dropConnections(): Promise<void> {
    for (const type of ['normal', 'pubsub']) {
      await this.#parts.admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes')
    }
  }

  async #violations(): Promise<readonly string[]> {
    const { admin, settings } = this.#parts
    const broken = await checkInvariants(admin, { native: true, names: this.#names })
    const leased = await this.#reads.leased(resizeLanes)
    const inTurns = await this.#reads.turnsLeased(turnLanes)
    return [...broken, ...excessOf(settings, leased), ...turnExcessOf(settings, inTurns)]
  }

  /** One call at the world's time. All nodes have got its messages before anybody has its answer. */
  readonly #turn: Turn = (call) =>
    this.#calls.run(async () => {
      this.#parts.server.setDate(this.nowMs())
      try {
        return await call()
      } finally {
        const nodes = [...this.#nodes.values()]
        await Promise.all(nodes.map((node) => node.delivered()))
        for (const node of nodes) node.handOver()
      }
    })
}
