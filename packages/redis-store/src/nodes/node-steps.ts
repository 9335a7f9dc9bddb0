import type { HeartbeatReply, Loss, NodeStore } from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import type { ClockOffset } from '../connection/clock-offset.ts'
import type { Events } from '../connection/events.ts'
import type { DeadBounds, RedisNativeStore } from '../native/native-store.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import type { Schema } from '../schema/schema.ts'

/** Lanes walked at once. */
const lanesAtOnce = 500

/** A node that left or died; `loss`: it died, and its jobs count as lost workers. */
interface Departure {
  readonly node: string
  readonly loss?: Loss
}

interface Parts {
  readonly context: RedisContext
  readonly clock: ClockOffset
  readonly dead: DeadBounds
  readonly events: Events
  readonly native: RedisNativeStore
  readonly schema: Schema
}

/** The store port's part for nodes that join, beat and leave. */
export class RedisNodes implements NodeStore {
  readonly #parts: Parts
  readonly #context: RedisContext
  #isAlone = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#context = parts.context
  }

  /**
   * True if the server had no replicas at the last beat: only they could have other subscribers.
   * False in a cluster.
   */
  get isAlone(): boolean {
    return this.#isAlone
  }

  async beat(): Promise<HeartbeatReply> {
    const { run, keys, node } = this.#context
    void this.#parts.events.probe()
    const [reply] = await Promise.all([
      run('beat', [keys.nodes, keys.schema], [node]),
      this.#lookForReplicas(),
    ])
    const [now, isNew, schema, ...others] = reply as [Buffer, number, Buffer, ...Buffer[]]
    const nowMs = Number(now.toString())
    this.#parts.clock.learn(nowMs)
    const heartbeats = new Map<string, number>()
    for (let at = 0; at + 1 < others.length; at += 2) {
      heartbeats.set(String(others[at]), Number(String(others[at + 1])))
    }
    this.#parts.schema.look(Number(schema.toString()), heartbeats.keys())
    return { nowMs, wasReclaimed: isNew === 1, heartbeats }
  }

  /** A user without the permission to ask does not know. */
  async #lookForReplicas(): Promise<void> {
    const { redis, isCluster } = this.#context
    if (isCluster) return
    const info = await redis.info('replication').catch(() => '')
    this.#isAlone = /^role:master\r?$/m.test(info) && /^connected_slaves:0\r?$/m.test(info)
  }

  reclaim(node: string, lanes: readonly string[], loss: Loss): Promise<readonly string[]> {
    return this.#forget(lanes, { node, loss })
  }

  async leave(lanes: readonly string[]): Promise<void> {
    await this.#forget(lanes, { node: this.#context.node })
    await this.#parts.native.holdLeadership(0)
  }

  async waitAgain(lane: string, clients: ReadonlyMap<number, number>): Promise<void> {
    const { run, keys, node } = this.#context
    await run('wait-again', [keys.busy(lane)], [lane, node, ...[...clients].flat()])
  }

  /** Returns the lanes that got jobs back. */
  async #forget(lanes: readonly string[], departure: Departure): Promise<readonly string[]> {
    const { keys, redis, call, isCluster } = this.#context
    const woken: string[] = []
    const failures: unknown[] = []
    const concerned = isCluster ? lanes : await this.#lanesOf(departure.node, lanes)
    for (const some of chunks(concerned, lanesAtOnce)) {
      const replies = await Promise.allSettled(some.map((lane) => this.#forgetIn(lane, departure)))
      for (const [at, reply] of replies.entries()) {
        if (reply.status === 'rejected') failures.push(reply.reason)
        else if (reply.value > 0) woken.push(some[at] ?? '')
      }
    }
    // In a cluster, lanes whose server is away are done later: until then the node counts as dead.
    if (failures.length > 0 && (!isCluster || failures.length === lanes.length)) throw failures[0]
    if (failures.length === 0) await call(() => redis.zrem(keys.nodes, departure.node))
    return woken
  }

  /** Lanes with traces of the node: most have none. */
  async #lanesOf(node: string, lanes: readonly string[]): Promise<readonly string[]> {
    const { run, keys, perLanes } = this.#context
    const found = await perLanes(lanes, async (some, first) => {
      const reply = await run('lanes-of-node', [keys.busy(first)], [node, ...some])
      return reply as readonly Buffer[]
    })
    return found.map(String)
  }

  /** Walks a lane in pieces; returns the number of requeued jobs. */
  async #forgetIn(lane: string, { node, loss }: Departure): Promise<number> {
    const { run, keys, graceMs } = this.#context
    const { deadPerLane, deadSeconds } = this.#parts.dead
    const { maxLosses = 0, failure = '' } = loss ?? {}
    const losses = [maxLosses, graceMs, failure, deadPerLane, deadSeconds]
    const args = [lane, node, this.#context.queueOf(lane), loss ? '1' : '', ...losses]
    let putBack = 0
    for (let place = 1, cursor = '0'; place > 0;) {
      const reply = await run('reclaim-node', [keys.busy(lane)], [...args, place, cursor])
      const [jobs, next, from] = reply as [number, number, Buffer]
      putBack += jobs
      place = next
      cursor = from.toString()
    }
    return putBack
  }
}
