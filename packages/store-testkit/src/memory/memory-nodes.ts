import type { HeartbeatReply, Loss, NativeStore, NodeStore } from '@crossgear/core-scheduler'
import { forgetNodeIn } from './lanes/maintenance.ts'
import type { Run } from './memory-world.ts'

/** How nodes come to a {@link MemoryWorld}, live and go. */
export class MemoryNodes implements NodeStore {
  readonly #node: string
  readonly #graceMs: number
  readonly #native: NativeStore
  readonly #step: Run

  constructor(node: string, graceMs: number, native: NativeStore, step: Run) {
    this.#node = node
    this.#graceMs = graceMs
    this.#native = native
    this.#step = step
  }

  beat(): Promise<HeartbeatReply> {
    return this.#step((world) => {
      const nowMs = world.nowMs()
      const last = world.beats.get(this.#node)
      world.beats.set(this.#node, last === nowMs ? nowMs + 1 : nowMs)
      const heartbeats = new Map([...world.beats].filter(([node]) => node !== this.#node))
      return { nowMs, heartbeats, wasReclaimed: last === undefined }
    })
  }

  reclaim(node: string, lanes: readonly string[], loss: Loss): Promise<readonly string[]> {
    return this.#step((world) => {
      world.beats.delete(node)
      const departure = { node, loss }
      return lanes.filter(
        (lane) => forgetNodeIn(world, world.lane(lane), departure, this.#graceMs) > 0,
      )
    })
  }

  waitAgain(lane: string, clients: ReadonlyMap<number, number>): Promise<void> {
    return this.#step((world) => {
      for (const [id, count] of clients) {
        const job = world.lane(lane).job(id, world.nowMs())
        if (!job || job.settled || job.waiting.includes(this.#node)) continue
        for (let client = 0; client < count; client += 1) job.waiting.push(this.#node)
      }
    })
  }

  async leave(lanes: readonly string[]): Promise<void> {
    await this.#step((world) => {
      world.beats.delete(this.#node)
      const departure = { node: this.#node }
      for (const lane of lanes) forgetNodeIn(world, world.lane(lane), departure, this.#graceMs)
    })
    await this.#native.holdLeadership(0)
  }
}
