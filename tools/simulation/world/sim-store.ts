import { LaneNames, type Store, type StoreListener } from '@crossgear/core-scheduler'
import { RedisStore } from '@crossgear/redis-store'
import type { Program } from '@crossgear/redis-store/embedded'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import type { NativePeer } from '@crossgear/tools/native-peer'
import { SpecPeer } from '@crossgear/tools/spec-peer'
import {
  excessOf,
  reserveForSeconds,
  resizeLanes,
  turnExcessOf,
  turnLanes,
  type Settings,
} from './settings.ts'
import { StoreMark } from './store-mark.ts'
import { miscountsOf, StoreReads, type NodeWorkers } from './store-reads.ts'
import { promisesSettled, type Timeline } from './timeline.ts'
import { WorldServer } from './world-server.ts'

/** The date at which each world begins, milliseconds since 1970. */
const epochMs = 1_700_000_000_000

/** All jobs and the places where they stand, as a digest. */
const jobsAndPlaces = `
local found = {}
local keys = redis.call('KEYS', '*')
table.sort(keys)
for _, key in ipairs(keys) do
  if string.match(key, '^job:') then
    local job = redis.call('HMGET', key, 'status', 'token')
    found[#found + 1] = string.format('%s %s %s', key, job[1] or '', job[2] or '')
  elseif string.match(key, '^queue:') or string.match(key, '^xg:busy:') or string.match(key, '^xg:dead:') then
    local isList = redis.call('TYPE', key).ok == 'list'
    local ids = redis.call(isList and 'LRANGE' or 'ZRANGE', key, 0, -1)
    found[#found + 1] = key .. ' ' .. table.concat(ids, ' ')
  end
end
return redis.sha1hex(table.concat(found, '\\n'))`

/** Calls from one check of the invariants to the next: each reads all keys. */
const callsPerCheck = 100

/** A native peer that also reads payloads. */
export interface SimNative extends NativePeer {
  inputOf(lane: string, id: number): Promise<string>
}

/** Opens the store of a world. */
export type OpenStore = (timeline: Timeline, settings: Settings) => SimStore

/** Worlds' stores, one after another on one server. */
export class SimStores {
  readonly #server: WorldServer
  #current: SimStore | undefined

  private constructor(server: WorldServer) {
    this.#server = server
  }

  /** `program`: that of the server, where it is compiled already. */
  static async start(program?: Program): Promise<SimStores> {
    return new SimStores(await WorldServer.start(program))
  }

  /** The store of the next world: the last one has ended. */
  readonly open: OpenStore = (timeline, settings) => {
    this.#current = new SimStore(this.#server, timeline, settings)
    return this.#current
  }

  async stop(): Promise<void> {
    await this.#current?.close()
    this.#server.stop()
  }
}

/** The one store of a world, for all its nodes: the shipped scripts, whose time is the world's. */
export class SimStore {
  readonly native: SimNative
  readonly #server: WorldServer
  readonly #timeline: Timeline
  readonly #settings: Settings
  readonly #names: LaneNames
  readonly #nodes = new Map<string, RedisStore>()
  /** Names of those whose process has not ended. */
  readonly #living = new Set<string>()
  readonly #reads: StoreReads
  #steppedMs = 0
  /** The replica gets nothing more: it is about to take the master's place. */
  #isFailingOver = false
  #sinceCheck = 0

  constructor(server: WorldServer, timeline: Timeline, settings: Settings) {
    this.#server = server
    this.#timeline = timeline
    this.#settings = settings
    this.#names = new LaneNames(settings.homes)
    this.#reads = new StoreReads(server.redis)
    this.native = Object.assign(new SpecPeer(server.redis), {
      inputOf: (lane: string, id: number) => this.#reads.inputOf(lane, id),
    })
    server.begin({ nowMs: () => this.nowMs(), passedMs: () => timeline.nowMs })
  }

  /** The store's clock, milliseconds since 1970. */
  nowMs(): number {
    return epochMs + this.#steppedMs + this.#timeline.nowMs
  }

  /** Steps it, ahead or back. */
  stepClock(ms: number): void {
    this.#steppedMs += ms
  }

  /** A new node's store. */
  async join(name: string): Promise<Store> {
    const store = new RedisStore(this.#server.address, {
      names: this.#names,
      throttles: this.#settings.throttles,
      reserveForSeconds,
      nodeName: name,
      clock: { nowMs: () => epochMs + this.#timeline.nowMs },
    })
    await store.open()
    this.#nodes.set(name, store)
    this.#living.add(name)
    const { events } = store
    const { steps, jobs, lanes, nodes, admin, queues, batches } = store
    const { cron, holders, inspect, native, history, audit } = store
    return {
      node: name,
      isSharded: false,
      steps,
      jobs,
      lanes,
      nodes,
      admin,
      queues,
      batches,
      cron,
      holders,
      inspect,
      native,
      history,
      audit,
      events: {
        watch: (what) => events.watch(what),
        listen: (listener) => events.listen(withoutConnections(listener)),
        send: (...message) => events.send(...message),
        delivered: () => Promise.resolve(),
      },
      ...(this.#settings.waitsForReplica && { confirm: () => this.#confirm() }),
      check: () => store.check(),
      close: () => {
        this.crash(name)
        return Promise.resolve()
      },
    }
  }

  /** The node's process has ended: it hears nothing more. Calls on their way still arrive, as they may. */
  crash(name: string): void {
    this.#living.delete(name)
    this.#nodes.get(name)?.events.close()
  }

  /** The replica takes over with the data as they are now, once the returned function is called. Until then the master goes on. */
  announceFailover(): () => void {
    this.#isFailingOver = true
    return this.mark()
  }

  #confirm(): Promise<void> {
    return this.#isFailingOver ? new Promise(() => undefined) : Promise.resolve()
  }

  /** Remembers the data as they are now; the returned function gives them back to the server. */
  mark(): () => void {
    const mark = StoreMark.of(this.#server.redis)
    return () => void mark.then((data) => data.restore())
  }

  /** The server's process is another one: nodes see that it may have lost data. */
  restart(): void {
    this.#isFailingOver = false
    this.#timeline.hold(async () => {
      await this.#server.restart()
      for (const [name, node] of this.#nodes) if (this.#living.has(name)) await isConnected(node)
    })
  }

  /** True at every hundredth call: the invariants are to be checked. */
  isCheckDue(): boolean {
    this.#sinceCheck = (this.#sinceCheck + 1) % callsPerCheck
    return this.#sinceCheck === 0
  }

  /** Broken invariants. A node's store may end a call of its own meanwhile: a second look is to see them, too. */
  async violations(): Promise<readonly string[]> {
    const found = await this.#broken()
    if (found.length === 0) return found
    const again = new Set(await this.#broken())
    return found.filter((one) => again.has(one))
  }

  /** Several commands read them: nothing may happen meanwhile. */
  async #broken(): Promise<readonly string[]> {
    const broken = await checkInvariants(this.#server.redis, { native: true, names: this.#names })
    const leased = await this.#reads.leased(resizeLanes)
    const inTurns = await this.#reads.turnsLeased(turnLanes)
    return [
      ...broken,
      ...excessOf(this.#settings, leased),
      ...turnExcessOf(this.#settings, inTurns),
    ]
  }

  /** All that is left in structures that are empty once all jobs have ended, and wrong counts of connected workers. */
  async leftovers(workers: NodeWorkers): Promise<readonly string[]> {
    return [
      ...(await this.violations()),
      ...(await this.#reads.leftovers()),
      ...miscountsOf(await this.#reads.workers(), workers, this.#names),
    ]
  }

  /** Jobs that stand in a queue or are running. */
  unfinished(): Promise<readonly string[]> {
    return this.#reads.unfinished()
  }

  /** A digest of all jobs and where they stand. */
  state(): string {
    return this.#server.now(jobsAndPlaces)
  }

  async close(): Promise<void> {
    for (const node of this.#nodes.values()) await node.close()
    this.#nodes.clear()
    this.#living.clear()
    await this.#server.end()
  }
}

type Method = (...args: unknown[]) => unknown

/** The world itself says when connections break. */
function withoutConnections(listener: StoreListener): StoreListener {
  return new Proxy(listener, {
    get: (target, name: keyof StoreListener) =>
      name === 'up' || name === 'down' ? () => undefined : (target[name] as Method).bind(target),
  })
}

/** Resolves when the node's store is connected again, and knows which data the server has. */
async function isConnected(node: RedisStore): Promise<void> {
  let isThere = false
  while (!isThere) {
    isThere = await node.check().then(
      () => true,
      () => false,
    )
    await promisesSettled()
  }
}
