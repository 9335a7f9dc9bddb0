import type {
  IdleTimes,
  LaneCounts,
  LaneOpenness,
  LaneSizes,
  LaneStore,
  LaneTotals,
  StoreError,
  WorkerCount,
} from '@crossgear/core-scheduler'
import { headOf } from '../jobs/claim.ts'
import { forgetDead } from '../jobs/finish.ts'
import { noTotals } from '../memory-lane.ts'
import { registerLane, unregisterLane } from './registration.ts'
import { healLane, opennessOf, takeBackBridged } from './openness.ts'
import { noteDeadline } from './deadlines.ts'
import type { MemoryQueues } from './memory-queues.ts'
import { promoteDue } from './maintenance.ts'
import type { Run } from '../memory-world.ts'
import { MemoryPart } from '../memory-part.ts'

/** Lanes of a {@link MemoryWorld}. */
export class MemoryLanes extends MemoryPart implements LaneStore {
  readonly #graceMs: number
  readonly #queues: MemoryQueues

  constructor(node: string, graceMs: number, queues: MemoryQueues, step: Run) {
    super(node, step)
    this.#graceMs = graceMs
    this.#queues = queues
  }

  register(lane: string): Promise<number> {
    return this.step((world) => registerLane(world, lane, this.#graceMs))
  }

  keep(lane: string): Promise<void> {
    return this.step((world) => {
      world.lane(lane).isKept = true
    })
  }

  formerTotals(): Promise<LaneTotals> {
    return this.step((world) => ({ ...world.formerTotals }))
  }

  resetFormerTotals(): Promise<void> {
    return this.step((world) => {
      world.formerTotals = noTotals()
    })
  }

  all(): Promise<ReadonlyMap<string, number>> {
    return this.step((world) => new Map(world.numbers))
  }

  async sizes(lanes: readonly string[]): Promise<readonly LaneSizes[]> {
    return (await this.counts(lanes)).map((counts) => {
      const { lane, high, normal, low, running, scheduled, dead, workers } = counts
      return { lane, high, normal, low, running, scheduled, dead, workers }
    })
  }

  async counts(lanes: readonly string[], withOldest = false): Promise<readonly LaneCounts[]> {
    const since = withOldest ? await this.#queues.oldest(lanes) : []
    return this.step((world) =>
      lanes.map((lane, at) => ({
        ...world.lane(lane).counts(world.nowMs(), world.isAutoOpen),
        oldestMs: since[at],
      })),
    )
  }

  discover(isKnown: (lane: string) => boolean): Promise<readonly string[]> {
    return this.step((world) => {
      const found = [...world.lanes].filter((lane) => lane.queued + lane.scheduled.size > 0)
      return found.map(({ lane }) => lane).filter((lane) => !isKnown(lane))
    })
  }

  marks(lanes: readonly string[]): Promise<readonly string[]> {
    return this.step((world) =>
      lanes.map((lane) => `${world.lane(lane).lastId} ${world.lane(lane).counted}`),
    )
  }

  nonEmpty(lanes: readonly string[]): Promise<readonly string[]> {
    return this.step((world) => {
      const found = lanes.filter((lane) => world.lane(lane).hasWanted)
      for (const lane of found) headOf(world, world.lane(lane))
      return found
    })
  }

  giveBack(lanes: readonly string[], idle: IdleTimes): Promise<ReadonlyMap<string, number>> {
    return this.step((world) => {
      const over = lanes.filter((lane) => world.lane(lane).isOver(world.nowMs(), idle))
      return new Map(over.map((lane) => [lane, unregisterLane(world, lane)]))
    })
  }

  open(lane: string): Promise<void> {
    return this.step((world) => {
      world.lane(lane).isOpen = true
      const { queued } = world.lane(lane)
      if (queued > 0) world.wake(lane)
    })
  }

  close(lane: string): Promise<void> {
    return this.step((world) => {
      world.lane(lane).isOpen = false
      world.notifyAll((listener) => listener.laneClosed(lane))
    })
  }

  openness(lanes: readonly string[]): Promise<readonly LaneOpenness[]> {
    return this.step((world) => lanes.map((lane) => opennessOf(world, world.lane(lane))))
  }

  rehome(lane: string): Promise<void> {
    return this.step((world) => {
      if (world.lane(lane).queued > 0) world.wake(lane)
    })
  }

  noteBridged(lane: string): Promise<boolean> {
    return this.step((world) => {
      const isFirst = !world.bridged.has(lane)
      world.bridged.add(lane)
      return isFirst
    })
  }

  setWorkers(counts: ReadonlyMap<string, WorkerCount>): Promise<ReadonlyMap<string, StoreError>> {
    return this.step((world) => {
      if (!world.beats.has(this.node)) {
        world.beats.set(this.node, world.nowMs())
        world.deaths.set(this.node, {})
      }
      for (const [lane, count] of counts) {
        const record = world.lane(lane)
        const { workers, queued } = record
        const before = workers.get(this.node)
        workers.set(this.node, count)
        if (count.named > 0 || before?.named || count.elsewhere)
          record.noteNamed(world.nowMs(), this.#graceMs)
        if (count.named > 0) takeBackBridged(world, record)
        if (count.named === 0 && before?.named && queued > 0) world.wake(lane, queued)
      }
      return new Map()
    })
  }

  skipLostIds(lanes: readonly string[]): Promise<void> {
    return this.step((world) => {
      for (const lane of lanes) world.lane(lane).begin(world.epoch)
    })
  }

  promote(): Promise<readonly { readonly lane: string; readonly jobs: number }[]> {
    return this.step((world) => promoteDue(world))
  }

  heal(lanes: readonly string[]): Promise<readonly string[]> {
    return this.step((world) => {
      for (const lane of lanes) {
        headOf(world, world.lane(lane))
        forgetDead(world, world.lane(lane))
        noteDeadline(world, world.lane(lane))
      }
      return lanes.filter((lane) => healLane(world, world.lane(lane), this.#graceMs))
    })
  }

  noteDeadlines(lanes: readonly string[]): Promise<void> {
    return this.step((world) => {
      for (const lane of lanes) noteDeadline(world, world.lane(lane))
    })
  }

  overdue(max: number): Promise<readonly string[]> {
    return this.step((world) => {
      const due = [...world.deadlines].filter(([, atMs]) => atMs <= world.nowMs()).slice(0, max)
      for (const [lane] of due) world.deadlines.delete(lane)
      return due.map(([lane]) => lane)
    })
  }
}
