import type { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import type { NativePeer, SteppedStore, StoreWorld, WorldOptions } from '../contract/store-world.ts'
import type { MemoryLane } from './memory-lane.ts'
import { MemoryNode } from './memory-node.ts'
import { violationsOf } from './memory-violations.ts'
import { MemoryWorld } from './memory-world.ts'
import { MemoryNative } from './native/memory-native.ts'

/** A clock that moves on when it is told to, milliseconds. */
type MovableClock = Pick<ManualClock, 'nowMs' | 'advance'>

/**
 * A store in memory with its nodes: a test double that also models the passing of time, failures
 * and deaths.
 */
export class MemoryStoreWorld<Time extends MovableClock = ManualClock>
  extends MemoryWorld
  implements StoreWorld
{
  declare readonly clock: Time
  readonly native: NativePeer = new MemoryNative(this)
  readonly #nodes: MemoryNode[] = []

  constructor(clock: Time, options: WorldOptions = {}) {
    super(clock, options)
  }

  /** A node of that name; a name is good for one life. */
  join(name = `node${this.#nodes.length + 1}`, graceMs = this.graceMs): MemoryNode {
    if (this.#nodes.some(({ node }) => node === name)) throw new Error(`${name} has lived before`)
    const node = new MemoryNode(this, name, graceMs)
    this.#nodes.push(node)
    this.subscribers.push(node)
    return node
  }

  node({ graceMs }: { readonly graceMs?: number } = {}): Promise<SteppedStore> {
    return Promise.resolve(this.join(undefined, graceMs))
  }

  hear(lane?: string): Promise<readonly string[]> {
    const ear = { lane, heard: [] }
    this.ears.push(ear)
    return Promise.resolve(ear.heard)
  }

  pass(ms: number): Promise<void> {
    return this.clock.advance(ms)
  }

  replaceData(): Promise<void> {
    this.nextEpoch()
    return Promise.resolve()
  }

  secondsLeft(lane: string, id: number): Promise<number | undefined> {
    const job = this.lane(lane).job(id, this.nowMs())
    const left = (job?.expiresAtMs ?? Infinity) - this.nowMs()
    return Promise.resolve(job && Math.ceil(left / 1000))
  }

  expire(lane: string, id: number): Promise<void> {
    this.lane(lane).delete(id)
    return Promise.resolve()
  }

  limit(lane: string, max: MemoryLane['limits']): Promise<void> {
    this.lane(lane).limits = max
    return Promise.resolve()
  }

  violations(): Promise<readonly string[]> {
    return Promise.resolve(violationsOf(this.lanes, this.numbers, this.nowMs()))
  }

  async close(): Promise<void> {
    for (const node of this.#nodes) await node.close()
  }
}
