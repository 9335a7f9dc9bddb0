import {
  type DroppedJob,
  nativeDoor,
  type HeartbeatReply,
  type LeasedRef,
  type Loss,
  type NodeStore,
  type Reclaimed,
  StoreError,
} from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import { storeErrorOf } from '../connection/errors.ts'
import type { ClockOffset } from '../connection/clock-offset.ts'
import type { Events } from '../connection/events.ts'
import type { DeadBounds, RedisNativeStore } from '../native/native-store.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import type { Schema } from '../schema/schema.ts'
import { droppedJobs } from '../step/step-reply.ts'

/** Lanes walked at once. */
const lanesAtOnce = 500

/** A node that left or died; `loss`: it died, and its jobs count as lost workers. */
interface Departure {
  readonly node: string
  readonly loss?: Loss
}

/** Jobs put back, the next place, the cursor in it, leases of consumers, what was refused, and ended jobs. */
type ReclaimReply = readonly [number, number, Buffer, readonly Buffer[], Buffer, readonly Buffer[]]

/** Leases and ends in the lanes of a node. */
interface Found {
  readonly consumed: LeasedRef[]
  readonly dropped: DroppedJob[]
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
  #hasBeaten = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#context = parts.context
  }

  /**
   * True if the server has no replicas: only they could have other subscribers. Not known before the first beat; false in a
   * cluster.
   */
  get isAlone(): boolean {
    return this.#hasBeaten && this.#context.epoch.isAlone
  }

  async beat(): Promise<HeartbeatReply> {
    const { run, keys, node, library, epoch, call } = this.#context
    void this.#parts.events.probe()
    await call(() => epoch.look())
    const known = [keys.nodes, keys.schema, keys.deaths, keys.lanes, keys.libraries]
    const reply = await run('beat', known, [node, library])
    const [now, isNew, schema, lanes, ...others] = reply as [
      Buffer,
      number,
      Buffer,
      number,
      ...Buffer[],
    ]
    // Also after a FLUSHALL, which the look before may have missed.
    if (isNew === 1) await call(() => epoch.look())
    const isReplaced = epoch.takeChange()
    this.#hasBeaten = true
    const nowMs = Number(now.toString())
    this.#parts.clock.learn(nowMs)
    const heartbeats = new Map<string, number>()
    for (let at = 0; at + 1 < others.length; at += 2) {
      heartbeats.set(String(others[at]), Number(String(others[at + 1])))
    }
    this.#parts.schema.look(Number(schema.toString()), heartbeats.keys())
    return { nowMs, wasReset: isNew === 1 || isReplaced, heartbeats, lanes }
  }

  async declareDead(node: string): Promise<boolean> {
    const { run, keys } = this.#context
    const args = [node, this.#context.node]
    return (await run('declare-dead', [keys.nodes, keys.deaths], args)) === 1
  }

  reclaim(node: string, lanes: readonly string[], loss: Loss): Promise<Reclaimed> {
    return this.#forget(lanes, { node, loss })
  }

  async inLanes(lanes: readonly string[]): Promise<readonly string[]> {
    const { run, keys, perLanesThere } = this.#context
    const found = await perLanesThere(lanes, async (some, first) => {
      return (await run('nodes-of-lanes', [keys.meta(first)], some)) as readonly Buffer[]
    })
    return [...new Set(found.map(String))]
  }

  async endReclaim(node: string, isComplete: boolean): Promise<void> {
    const { run, keys } = this.#context
    const args = [node, this.#context.node, isComplete ? '1' : '']
    await run('end-reclaim', [keys.nodes, keys.deaths], args)
  }

  /** In a cluster, lanes whose server is away are left to the others: until then the node counts as dead. */
  async leave(lanes: readonly string[]): Promise<void> {
    const { node, keys, isCluster, run } = this.#context
    const { refused } = await this.#forget(lanes, { node })
    const [first] = refused.values()
    if (first && (!isCluster || refused.size === lanes.length)) throw first
    if (!first) await run('forget-node', [keys.nodes], [node])
    await this.#parts.native.holdLeadership(0)
  }

  async waitAgain(lane: string, clients: ReadonlyMap<number, number>): Promise<void> {
    const { run, keys, node } = this.#context
    await run('wait-again', [keys.busy(lane)], [lane, node, ...[...clients].flat()])
  }

  async #forget(lanes: readonly string[], departure: Departure): Promise<Reclaimed> {
    const { isCluster } = this.#context
    const woken: string[] = []
    let requeued = 0
    const refused = new Map<string, StoreError>()
    const found: Found = { consumed: [], dropped: [] }
    const concerned = isCluster ? lanes : await this.#lanesOf(departure.node, lanes)
    for (const some of chunks(concerned, lanesAtOnce)) {
      const forget = async (lane: string): Promise<void> => {
        try {
          const jobs = await this.#forgetIn(lane, departure, found)
          if (jobs > 0) woken.push(lane)
          requeued += jobs
        } catch (error) {
          refused.set(lane, storeErrorOf(error))
        }
      }
      await Promise.all(some.map(forget))
    }
    return { woken, requeued, refused, ...found }
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

  /** Walks a lane in pieces; returns the number of requeued jobs. Appends what it finds. */
  async #forgetIn(lane: string, { node, loss }: Departure, found: Found): Promise<number> {
    const { run, keys, graceMs } = this.#context
    const { deadPerLane, deadSeconds } = this.#parts.dead
    const { maxLosses = 0, failure = '' } = loss ?? {}
    const losses = [maxLosses, graceMs, failure, deadPerLane, deadSeconds]
    const args = [lane, node, this.#context.queueOf(lane), loss ? '1' : '', ...losses]
    let putBack = 0
    let problem: string | undefined
    for (let place = 1, cursor = '0'; place > 0;) {
      const reply = await run('reclaim-node', [keys.busy(lane)], [...args, place, cursor])
      const [jobs, next, from, leases, refusal, ended] = reply as ReclaimReply
      for (const [id, token = '', door] of chunks(leases.map(String), 3)) {
        found.consumed.push({ lane, id: Number(id), token, door: door ?? nativeDoor })
      }
      found.dropped.push(...droppedJobs(ended))
      putBack += jobs
      place = next
      cursor = from.toString()
      if (refusal.length > 0) problem = refusal.toString()
    }
    if (problem) throw new StoreError('REFUSED', problem)
    return putBack
  }
}
