import { inPieces } from '../../../../in-pieces.ts'
import { type LaneFigures, queuedIn } from '../../../../operations/metrics/store-snapshot.ts'

/** Ages that are compared lie so far apart, and are kept so long, milliseconds. */
const bounds = { apartMs: 10_000, minMs: 60_000, maxMs: 300_000 } as const
/** A job that waits shorter is no trouble, seconds. */
const minSeconds = 60
/** Share of the time that passes by which an age may grow: where jobs are taken, it falls now and then. */
const share = 0.5
/** Lanes whose ages are kept: the oldest. */
const maxLanes = 1_000

interface Sample {
  readonly atMs: number
  /** Seconds by lane. */
  readonly ages: ReadonlyMap<string, number>
}

/** The age of a lane's oldest job, now and before, seconds. */
export interface Growth {
  readonly lane: LaneFigures
  readonly moreSeconds: number
  readonly withinSeconds: number
}

/** Finds lanes whose oldest job gets older and older though workers are there, among what somebody has looked at lately. */
export class GrowingAges {
  #samples: readonly Sample[] = []

  async look(lanes: readonly LaneFigures[], atMs: number): Promise<readonly Growth[]> {
    const old: LaneFigures[] = []
    await inPieces(lanes, (lane) => {
      if (lane.oldestSeconds > 0 && queuedIn(lane.counts) > 0) old.push(lane)
    })
    const before = this.#samples.find((sample) => atMs - sample.atMs <= bounds.maxMs)
    this.#keep(old, atMs)
    if (!before || atMs - before.atMs < bounds.minMs) return []
    const withinSeconds = (atMs - before.atMs) / 1000
    return old.flatMap((lane) => {
      const { counts, oldestSeconds, isPaused } = lane
      const known = before.ages.get(counts.lane)
      if (known === undefined || isPaused || counts.workers === 0) return []
      const moreSeconds = oldestSeconds - known
      const grows = oldestSeconds >= minSeconds && moreSeconds >= share * withinSeconds
      return grows ? [{ lane, moreSeconds, withinSeconds }] : []
    })
  }

  #keep(old: readonly LaneFigures[], atMs: number): void {
    const last = this.#samples.at(-1)
    // A clock that was set back begins anew.
    const kept = last && last.atMs > atMs ? [] : this.#samples
    if (last && last.atMs <= atMs && atMs - last.atMs < bounds.apartMs) return
    const oldest = old
      .toSorted((one, other) => other.oldestSeconds - one.oldestSeconds)
      .slice(0, maxLanes)
    const ages = new Map(oldest.map(({ counts, oldestSeconds }) => [counts.lane, oldestSeconds]))
    this.#samples = [...kept.filter((sample) => atMs - sample.atMs <= bounds.maxMs), { atMs, ages }]
  }
}
