import type { LaneCounts, LaneOpenness, LaneSizes } from '@crossgear/core-scheduler'

/** The counts script's reply for a lane: a time as text, then numbers; the last ones are left out where they are 0. */
export type CountsReply = readonly (number | Buffer)[]

/** As counts.lua numbers them. */
const opennessStates: readonly LaneOpenness['state'][] = ['auto', 'open', 'closed', 'shut']

function numberAt(reply: CountsReply, place: number): number {
  const figure = reply[place]
  return typeof figure === 'number' ? figure : 0
}

/** The counts script's answer, by name. */
export function sizesOf(lane: string, reply: CountsReply): LaneSizes {
  return {
    lane,
    normal: numberAt(reply, 1),
    workers: numberAt(reply, 2),
    running: numberAt(reply, 3),
    scheduled: numberAt(reply, 4),
    high: numberAt(reply, 5),
    low: numberAt(reply, 6),
    dead: numberAt(reply, 7),
  }
}

/** The same with counters: written out, since it is made for up to 65,536 lanes at once. */
export function countsOf(lane: string, reply: CountsReply): LaneCounts {
  const counts: LaneCounts = {
    lane,
    normal: numberAt(reply, 1),
    workers: numberAt(reply, 2),
    running: numberAt(reply, 3),
    scheduled: numberAt(reply, 4),
    high: numberAt(reply, 5),
    low: numberAt(reply, 6),
    dead: numberAt(reply, 7),
    submitted: numberAt(reply, 8),
    completed: numberAt(reply, 9),
    failed: numberAt(reply, 10),
    retried: numberAt(reply, 11),
    openness: opennessStates[numberAt(reply, 12)] ?? 'auto',
    retrying: numberAt(reply, 13),
    expired: numberAt(reply, 14),
    promoted: numberAt(reply, 15),
    requeued: numberAt(reply, 16),
    forgotten: numberAt(reply, 17),
    isRemoved: numberAt(reply, 18) === 1,
  }
  const since = reply[0]?.toString() ?? ''
  return since === '' ? counts : { ...counts, oldestMs: Number(since) }
}
