import type { LaneCounts, Scheduler } from '@crossgear/core-scheduler'
import { inPieces } from '../../in-pieces.ts'

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
  readonly lanes: readonly LaneFigures[]
  /** Age of each node's last heartbeat, seconds. */
  readonly nodes: ReadonlyMap<string, number>
}

/** Looks at all lanes: a few commands each, in batches, whatever the number of jobs. */
export async function takeSnapshot(scheduler: Scheduler): Promise<StoreSnapshot> {
  const { jobs, registry, queues } = scheduler
  const lanes = await jobs.counts(registry.all(), true)
  const nowMs = scheduler.storeNowMs()
  const found: LaneFigures[] = []
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

export function queuedIn({ high, normal, low }: LaneCounts): number {
  return high + normal + low
}

/** The store's clock may step. */
function secondsBetween(fromMs: number, toMs: number): number {
  return Math.max(0, toMs - fromMs) / 1000
}
