import type { LaneCounts, LaneSizes, LaneTotals, Scheduler } from '@crossgear/core-scheduler'
import { inPieces } from '../../in-pieces.ts'
import { Cached } from './cached.ts'

/** Jobs in one lane. */
export interface LaneFigures {
  readonly counts: LaneCounts
  readonly fn: string
  readonly queue: string
  /** Time in the queue of the next job, seconds; 0 without one. */
  readonly oldestSeconds: number
  /** An operator has paused its function. */
  readonly isPaused: boolean
}

/** Figures of the whole store: the same at every node. */
export interface StoreSnapshot {
  /** The store's time of the figures, milliseconds since 1970. */
  readonly atMs: number
  /** When their reading began, milliseconds by the readers' clock. */
  readonly readAtMs: number
  readonly lanes: readonly LaneFigures[]
  /** The counters of lanes that are gone. */
  readonly former: LaneTotals
  /** Age of each node's last heartbeat, seconds. */
  readonly nodes: ReadonlyMap<string, number>
}

/** Lifetime of a snapshot, ms: it costs the same for any number of readers. */
const snapshotTtlMs = 1000

/** The latest reading of all lanes, shared by all pages, the API and the event stream. */
export type StoreSnapshots = Cached<StoreSnapshot>

export function storeSnapshots(scheduler: Scheduler, nowMs: () => number): StoreSnapshots {
  return new Cached(snapshotTtlMs, nowMs, () => takeSnapshot(scheduler, nowMs()))
}

/** Reads all lanes: a few commands each, in batches, whatever the number of jobs. */
export async function takeSnapshot(scheduler: Scheduler, readAtMs: number): Promise<StoreSnapshot> {
  const { jobs, registry, queues } = scheduler
  const [counted, former] = await Promise.all([
    jobs.counts(registry.all(), true),
    jobs.formerTotals(),
  ])
  const nowMs = scheduler.storeNowMs()
  const lanes: LaneFigures[] = []
  await inPieces(counted, (counts) => {
    const { oldestMs } = counts
    const { fn, queue } = registry.names.parse(counts.lane)
    const oldestSeconds = oldestMs === undefined ? 0 : secondsBetween(oldestMs, nowMs)
    lanes.push({ counts, fn, queue, oldestSeconds, isPaused: queues.holdsBack(counts.lane) })
  })
  return {
    atMs: nowMs,
    readAtMs,
    lanes,
    former,
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
