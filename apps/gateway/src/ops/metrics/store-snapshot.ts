import type {
  LaneBacklog,
  LaneCounts,
  LaneSizes,
  LaneTotals,
  Scheduler,
} from '@crossgear/core-scheduler'
import { inPieces } from '../../in-pieces.ts'
import { Cached } from './cached.ts'

/** Jobs in one lane. */
export interface LaneFigures<Counts extends LaneBacklog = LaneBacklog> {
  readonly counts: Counts
  readonly fn: string
  readonly queue: string
  /** Time in the queue of the next job, seconds; 0 without one. */
  readonly oldestSeconds: number
  /** An operator has paused its function. */
  readonly isPaused: boolean
}

/** Figures of the whole store: the same at every node. */
export interface StoreSnapshot<Counts extends LaneBacklog = LaneBacklog> {
  /** The store's time of the figures, milliseconds since 1970. */
  readonly atMs: number
  readonly lanes: readonly LaneFigures<Counts>[]
  /** Age of each node's last heartbeat, seconds. */
  readonly nodes: ReadonlyMap<string, number>
}

/** A snapshot with the lanes' counters. */
export interface WholeSnapshot extends StoreSnapshot<LaneCounts> {
  /** The counters of lanes that are gone. */
  readonly former: LaneTotals
}

/** Lifetime of a snapshot, ms: it costs the same for any number of readers. */
const snapshotTtlMs = 1000

/** The latest readings of all lanes, shared by all pages. */
export class StoreSnapshots {
  readonly #whole: Cached<WholeSnapshot>
  readonly #backlog: Cached<StoreSnapshot>

  constructor(scheduler: Scheduler, nowMs: () => number) {
    const { jobs, registry } = scheduler
    this.#whole = new Cached(snapshotTtlMs, nowMs, async () => {
      const counted = jobs.counts(registry.all(), true)
      const [former, snapshot] = await Promise.all([
        jobs.formerTotals(),
        takeSnapshot(scheduler, counted),
      ])
      return { ...snapshot, former }
    })
    this.#backlog = new Cached(snapshotTtlMs, nowMs, () => takeSnapshot(scheduler, jobs.backlogs()))
  }

  /** With counters, at twice the cost. */
  whole(): Promise<WholeSnapshot> {
    return this.#whole.get()
  }

  /** The figures that a scrape shows: those of a whole snapshot, where there is one anyway. */
  backlog(): Promise<StoreSnapshot> {
    return this.#whole.current ?? this.#backlog.get()
  }
}

/** Reads all lanes: a few commands each, in batches, whatever the number of jobs. */
export async function takeSnapshot<Counts extends LaneBacklog>(
  scheduler: Scheduler,
  counted: Promise<readonly Counts[]>,
): Promise<StoreSnapshot<Counts>> {
  const { registry, queues } = scheduler
  const lanes = await counted
  const nowMs = scheduler.storeNowMs()
  const found: LaneFigures<Counts>[] = []
  await inPieces(lanes, (counts) => {
    const { oldestMs } = counts
    const { fn, queue } = registry.names.parse(counts.lane)
    const oldestSeconds = oldestMs === undefined ? 0 : secondsBetween(oldestMs, nowMs)
    found.push({ counts, fn, queue, oldestSeconds, isPaused: queues.holdsBack(counts.lane) })
  })
  return {
    atMs: nowMs,
    lanes: found,
    nodes: new Map([...scheduler.nodes].map(([node, ms]) => [node, secondsBetween(ms, nowMs)])),
  }
}

export function queuedIn({ high, normal, low }: LaneSizes): number {
  return high + normal + low
}

/** The store's clock may step. */
function secondsBetween(fromMs: number, toMs: number): number {
  return Math.max(0, toMs - fromMs) / 1000
}
