import type { LaneCounts, Scheduler } from '@crossgear/core-scheduler'

/** What stands in one lane. */
export interface LaneFigures extends LaneCounts {
  readonly fn: string
  readonly queue: string
  /** How long the next job has been queued, seconds; absent where none is. */
  readonly oldestSeconds?: number
}

/** What the whole store holds: the same at every node. */
export interface StoreSnapshot {
  readonly lanes: readonly LaneFigures[]
  /** How long ago each node said that it lives, seconds. */
  readonly nodes: ReadonlyMap<string, number>
}

/** Looks at all lanes: a few commands for each in calls for some of them, whatever the number of jobs. */
export async function takeSnapshot(scheduler: Scheduler): Promise<StoreSnapshot> {
  const { jobs, registry } = scheduler
  const counts = await jobs.counts()
  const waiting = counts.filter((lane) => queuedIn(lane) > 0).map(({ lane }) => lane)
  const since = await jobs.oldest(waiting)
  const nowMs = scheduler.storeNowMs()
  const sinceOf = new Map(waiting.map((lane, at) => [lane, since[at]]))
  return {
    lanes: counts.map((lane) => {
      const sinceMs = sinceOf.get(lane.lane)
      const names = registry.names.parse(lane.lane)
      if (sinceMs === undefined) return { ...lane, ...names }
      return { ...lane, ...names, oldestSeconds: secondsBetween(sinceMs, nowMs) }
    }),
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
