import type { LaneBacklog, LaneCounts, LaneOpenness, LaneSizes } from '@crossgear/core-scheduler'
import type { Lasting } from './unchanged-lanes.ts'

/** As counts.lua numbers them. */
const opennessStates: readonly LaneOpenness['state'][] = ['auto', 'open', 'closed', 'shut']

/**
 * The counts script's list: the time, and per lane a number of figures and the figures, of which the last are left out
 * where 0.
 */
export class CountsReply {
  readonly #list: readonly number[]
  /** The store's time of the figures, milliseconds since 1970. */
  readonly nowMs: number
  #first = 0
  #end = 1

  constructor(list: readonly number[]) {
    this.#list = list
    this.nowMs = list[0] ?? 0
  }

  /** Goes to the figures of the next lane. */
  next(): void {
    this.#first = this.#end + 1
    this.#end = this.#first + (this.#list[this.#end] ?? 0)
  }

  at(place: number): number {
    const at = this.#first + place
    return at < this.#end ? (this.#list[at] ?? 0) : 0
  }
}

/** Figures of one lane, from the reply that stands at them. All are written out: up to 65,536 are made at once. */
export type ReadFigures<Figures> = (lane: string, reply: CountsReply) => Figures

export const sizesOf: ReadFigures<LaneSizes> = (lane, reply) => ({
  lane,
  normal: reply.at(1),
  workers: reply.at(2),
  running: reply.at(3),
  scheduled: reply.at(4),
  high: reply.at(5),
  low: reply.at(6),
  dead: reply.at(7),
})

export const backlogOf: ReadFigures<LaneBacklog> = (lane, reply) => ({
  lane,
  oldestMs: oldestIn(reply),
  normal: reply.at(1),
  workers: reply.at(2),
  running: reply.at(3),
  scheduled: reply.at(4),
  high: reply.at(5),
  low: reply.at(6),
  dead: reply.at(7),
  retrying: reply.at(8),
})

export const countsOf: ReadFigures<LaneCounts> = (lane, reply) => ({
  lane,
  oldestMs: oldestIn(reply),
  normal: reply.at(1),
  workers: reply.at(2),
  running: reply.at(3),
  scheduled: reply.at(4),
  high: reply.at(5),
  low: reply.at(6),
  dead: reply.at(7),
  retrying: reply.at(8),
  expired: reply.at(9),
  submitted: reply.at(10),
  completed: reply.at(11),
  failed: reply.at(12),
  retried: reply.at(13),
  openness: opennessStates[reply.at(14)] ?? 'auto',
  promoted: reply.at(15),
  requeued: reply.at(16),
  forgotten: reply.at(17),
  isRemoved: reply.at(18) === 1,
  died: reply.at(20),
  lost: reply.at(21),
  cancelled: reply.at(22),
  deleted: reply.at(23),
  moved: reply.at(24),
  rerun: reply.at(25),
  killed: reply.at(26),
})

/** Figures of this moment: of a job without a time of its own, or of retries until they are due. */
function isTimed({ oldestMs = 0, retrying }: LaneBacklog, { nowMs }: CountsReply): boolean {
  return retrying > 0 || oldestMs >= nowMs
}

export const lastingBacklogOf: ReadFigures<Lasting<LaneBacklog>> = (lane, reply) => {
  const figures = backlogOf(lane, reply)
  const untilMs = isTimed(figures, reply) ? 0 : closedUntilMs(reply) || Infinity
  return { figures, untilMs, nowMs: reply.nowMs }
}

/** Of a backlog: until when workers that left close it to consumers that are there, milliseconds since 1970, or 0. */
function closedUntilMs(reply: CountsReply): number {
  return reply.at(10)
}

/** Of a backlog: if jobs of unusual levels wait beside its lists. */
export function hasJobsAside(reply: CountsReply): boolean {
  return reply.at(9) === 1
}

/** Also until by-name workers that left no longer close the lane. */
export const lastingCountsOf: ReadFigures<Lasting<LaneCounts>> = (lane, reply) => {
  const figures = countsOf(lane, reply)
  const untilMs = isTimed(figures, reply) ? 0 : reply.at(19) || Infinity
  return { figures, untilMs, nowMs: reply.nowMs }
}

function oldestIn(reply: CountsReply): number | undefined {
  const sinceUs = reply.at(0)
  return sinceUs === 0 ? undefined : sinceUs / 1000
}
