import type { LaneCounts, LaneOpenness, LaneSizes } from '@crossgear/core-scheduler'

/** As counts.lua numbers them. */
const opennessStates: readonly LaneOpenness['state'][] = ['auto', 'open', 'closed', 'shut']

/**
 * The counts script's list: per lane a number of figures and the figures, of which the last are left out where 0.
 */
export class CountsReply {
  readonly #list: readonly number[]
  #first = 0
  #end = 0

  constructor(list: readonly number[]) {
    this.#list = list
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
  died: reply.at(19),
  lost: reply.at(20),
  cancelled: reply.at(21),
  deleted: reply.at(22),
  moved: reply.at(23),
  rerun: reply.at(24),
  killed: reply.at(25),
})

function oldestIn(reply: CountsReply): number | undefined {
  const sinceUs = reply.at(0)
  return sinceUs === 0 ? undefined : sinceUs / 1000
}
