import type { LaneCounts, LaneOpenness } from '@crossgear/core-scheduler'

/** The counts script's reply for a lane: numbers, then a time as text. */
export type CountsReply = readonly (number | Buffer)[]

/** As counts.lua numbers them. */
const opennessStates: readonly LaneOpenness['state'][] = ['auto', 'open', 'closed', 'shut']

/** The counts script's answer, by name. */
export function countsOf(lane: string, reply: CountsReply): LaneCounts {
  const figures = reply.filter((figure) => typeof figure === 'number')
  const since = reply.at(-1)?.toString() ?? ''
  const [high = 0, normal = 0, low = 0, running = 0, scheduled = 0, dead = 0] = figures
  const [workers = 0, submitted = 0, completed = 0, failed = 0, retried = 0, retrying = 0] =
    figures.slice(6)
  const [expired = 0, promoted = 0, requeued = 0, forgotten = 0, removed = 0, openness = 0] =
    figures.slice(12)
  return {
    lane,
    high,
    normal,
    low,
    running,
    scheduled,
    dead,
    workers,
    submitted,
    completed,
    failed,
    retried,
    retrying,
    expired,
    promoted,
    requeued,
    forgotten,
    isRemoved: removed === 1,
    openness: opennessStates[openness] ?? 'auto',
    ...(reply.length > figures.length && since !== '' && { oldestMs: Number(since) }),
  }
}
