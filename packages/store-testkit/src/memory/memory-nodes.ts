import type {
  DroppedJob,
  HeartbeatReply,
  Loss,
  NativeStore,
  NodeStore,
  Reclaimed,
} from '@crossgear/core-scheduler'
import { consumedIn, forgetNodeIn, nodesIn } from './lanes/maintenance.ts'
import { isSettled } from './memory-job.ts'
import type { MemoryWorld, Run } from './memory-world.ts'
import { MemoryPart } from './memory-part.ts'

/** How nodes come to a {@link MemoryWorld}, live and go. */
export class MemoryNodes extends MemoryPart implements NodeStore {
  readonly #graceMs: number
  readonly #native: NativeStore
  #epoch = 0

  constructor(node: string, graceMs: number, native: NativeStore, step: Run) {
    super(node, step)
    this.#graceMs = graceMs
    this.#native = native
  }

  beat(): Promise<HeartbeatReply> {
    return this.step((world) => {
      const nowMs = world.nowMs()
      const last = world.beats.get(this.node)
      const isRecent = last !== undefined && nowMs <= last && last < nowMs + 1_000
      world.beats.set(this.node, isRecent ? last + 1 : nowMs)
      const isDead = world.deaths.has(this.node)
      if (isDead && !isBeingReclaimed(world, this.node)) world.deaths.delete(this.node)
      const heartbeats = new Map([...world.beats].filter(([node]) => node !== this.node))
      const wasReset = isDead || last === undefined || this.#epoch !== world.epoch
      this.#epoch = world.epoch
      return { nowMs, heartbeats, wasReset, lanes: world.numbers.size }
    })
  }

  declareDead(node: string): Promise<boolean> {
    return this.step((world) => {
      const { by } = world.deaths.get(node) ?? {}
      if (by !== this.node && isBeingReclaimed(world, node)) return false
      world.deaths.set(node, { by: this.node, heartbeat: world.beats.get(node) })
      return true
    })
  }

  reclaim(node: string, lanes: readonly string[], loss: Loss): Promise<Reclaimed> {
    return this.step((world) => {
      const departure = { node, loss }
      const dropped: DroppedJob[] = []
      const counts = lanes.map((lane) =>
        forgetNodeIn(world, world.lane(lane), departure, this.#graceMs, dropped),
      )
      const woken = lanes.filter((_lane, at) => (counts[at] ?? 0) > 0)
      const requeued = counts.reduce((sum, jobs) => sum + jobs, 0)
      const consumed = lanes.flatMap((lane) => consumedIn(world, world.lane(lane), node))
      return { woken, requeued, refused: new Map(), consumed, dropped }
    })
  }

  inLanes(lanes: readonly string[]): Promise<readonly string[]> {
    return this.step((world) => [
      ...new Set(lanes.flatMap((lane) => nodesIn(world, world.lane(lane)))),
    ])
  }

  endReclaim(node: string, isComplete: boolean): Promise<void> {
    return this.step((world) => {
      const { by, heartbeat } = world.deaths.get(node) ?? {}
      if (by !== undefined && by !== this.node) return
      const last = world.beats.get(node)
      if (last === undefined || (isComplete && last === heartbeat)) {
        world.beats.delete(node)
        world.deaths.delete(node)
      } else {
        world.deaths.set(node, {})
      }
    })
  }

  waitAgain(lane: string, clients: ReadonlyMap<number, number>): Promise<void> {
    return this.step((world) => {
      for (const [id, count] of clients) {
        const job = world.lane(lane).job(id, world.nowMs())
        if (!job || isSettled(job) || job.waiting.includes(this.node)) continue
        for (let client = 0; client < count; client += 1) job.waiting.push(this.node)
      }
    })
  }

  async leave(lanes: readonly string[]): Promise<void> {
    await this.step((world) => {
      world.beats.delete(this.node)
      world.deaths.delete(this.node)
      const departure = { node: this.node }
      for (const lane of lanes) forgetNodeIn(world, world.lane(lane), departure, this.#graceMs)
    })
    await this.#native.holdLeadership(0)
  }
}

function isBeingReclaimed({ beats, deaths }: MemoryWorld, node: string): boolean {
  const { by } = deaths.get(node) ?? {}
  return by !== undefined && beats.has(by) && !deaths.has(by)
}
