import type { NewJob } from '@crossgear/core-scheduler'

/** Bytes of kept payloads. Beyond that the oldest are read from the store again. */
const mostBytes = 64 * 1024 * 1024
/** Rough size of a job beside its payload, bytes. */
const bytesPerJob = 512
/** A job that waits longer is read from the store, milliseconds. */
const longestMs = 10_000
/**
 * Most ranges of ids named per step, over all lanes. Where others submit to the same lanes, each
 * job may be a range.
 */
const mostRangesNamed = 64
/** Most ranges per lane. Jobs of further ranges are read from the store. */
const mostRanges = 16

/** The usual level of each band: jobs of these levels need no counter. */
const usualLevels: readonly number[] = [2, 5, 8]

interface Kept {
  readonly job: NewJob
  /** `enqueued` in its hash; differs for another job with the same id, as after a flush. */
  readonly enqueued: string
  readonly bytes: number
  readonly sinceMs: number
}

/** A run of ids, all of jobs that this node submitted. */
interface Range {
  readonly first: number
  last: number
  hasForeground: boolean
}

interface Lane {
  readonly jobs: Map<number, Kept>
  ranges: Range[]
}

/**
 * Jobs that this node submitted lately, so that the store need not send them back. Bounded by bytes
 * and time.
 */
export class KeptJobs {
  readonly #lanes = new Map<string, Lane>()
  readonly #bounds: { readonly mostBytes: number; readonly longestMs: number }
  #bytes = 0

  constructor(bounds = { mostBytes, longestMs }) {
    this.#bounds = bounds
  }

  get bytes(): number {
    return this.#bytes
  }

  add(lane: string, id: number, job: NewJob, enqueued: string, nowMs: number): void {
    const known = this.#lanes.get(lane)
    if (known) dropReused(known.ranges, id)
    if (!isKeepable(job)) return
    const size = job.input.length + (job.envelope?.length ?? 0) + bytesPerJob
    const kept = known ?? { jobs: new Map<number, Kept>(), ranges: [] }
    this.#lanes.set(lane, kept)
    const before = kept.jobs.get(id)
    if (before) this.#bytes -= before.bytes
    // Goes to the end: after a flush its id may be given again.
    kept.jobs.delete(id)
    kept.jobs.set(id, { job, enqueued, bytes: size, sinceMs: nowMs })
    this.#bytes += size
    addToRanges(kept.ranges, id, job.foreground)
    if (this.#bytes > this.#bounds.mostBytes) this.#evict()
  }

  /** The job, if it is the one that the store means. */
  get(lane: string, id: number, enqueued: string): NewJob | undefined {
    const kept = this.#lanes.get(lane)?.jobs.get(id)
    return kept?.enqueued === enqueued ? kept.job : undefined
  }

  /** The job has ended, or changed. */
  drop(lane: string, id: number): void {
    const kept = this.#lanes.get(lane)?.jobs.get(id)
    if (kept) this.#remove(lane, id, kept)
  }

  /**
   * Ids of kept jobs as lua/step.lua takes them: per lane its name, the number of ranges, and of
   * each the first, the last, and 1 if a client waited for one of them. Some ids may no longer be
   * kept.
   */
  ranges(nowMs: number): readonly (string | number)[] {
    this.#forgetOld(nowMs)
    const named: (string | number)[] = []
    let left = mostRangesNamed
    for (const [lane, { ranges }] of this.#lanes) {
      if (left === 0) break
      const some = ranges.slice(0, left)
      left -= some.length
      named.push(lane, some.length)
      for (const { first, last, hasForeground } of some)
        named.push(first, last, hasForeground ? 1 : 0)
    }
    return named
  }

  /** Within a lane the first is the oldest. */
  #forgetOld(nowMs: number): void {
    for (const [lane, { jobs }] of this.#lanes) {
      for (const [id, kept] of jobs) {
        if (nowMs - kept.sinceMs < this.#bounds.longestMs) break
        this.#remove(lane, id, kept)
      }
    }
  }

  /** Evicts the oldest job of the least recently used lane until there is room. */
  #evict(): void {
    while (this.#bytes > this.#bounds.mostBytes) {
      const [first] = this.#lanes
      if (!first) return
      const [lane, { jobs }] = first
      for (const [id, kept] of jobs) {
        this.#remove(lane, id, kept)
        if (this.#bytes <= this.#bounds.mostBytes) return
      }
    }
  }

  #remove(lane: string, id: number, { bytes }: Kept): void {
    const kept = this.#lanes.get(lane)
    if (!kept?.jobs.delete(id)) return
    this.#bytes -= bytes
    if (kept.jobs.size === 0) this.#lanes.delete(lane)
    else dropEmpty(kept)
  }
}

/** False for a job whose level, times or lock the store has to check. */
export function isKeepable({ level, staleAtMs, lock, reserveForSeconds }: NewJob): boolean {
  const hasTimes = staleAtMs !== undefined || reserveForSeconds !== undefined
  return usualLevels.includes(level) && !hasTimes && !lock
}

/** After a flush ids begin again: none may be mistaken for an older job's. */
function dropReused(ranges: Range[], id: number): void {
  const last = ranges.at(-1)
  if (last && id <= last.last) ranges.length = 0
}

function addToRanges(ranges: Range[], id: number, foreground: boolean): void {
  const last = ranges.at(-1)
  if (last?.last === id - 1) {
    last.last = id
    last.hasForeground ||= foreground
    return
  }
  ranges.push({ first: id, last: id, hasForeground: foreground })
  if (ranges.length > mostRanges) ranges.shift()
}

/** Drops ranges before the oldest job. */
function dropEmpty({ jobs, ranges }: Lane): void {
  const [oldest] = jobs.keys()
  while (oldest !== undefined && ranges[0] && ranges[0].last < oldest) ranges.shift()
}
