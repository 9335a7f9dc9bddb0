import type { JobState, Scheduler, TimedJob, TimedSet } from '@crossgear/core-scheduler'
import { grouped } from '@crossgear/migration'
import { ApiError } from '../api-error.ts'
import { cursorOf, numbersOf } from '../cursors.ts'
import type { JobFilter } from '../schemas/jobs.ts'
import type { Scope } from '../scope.ts'
import { type FoundJob, type JobScan, scanBounds } from './job-scan.ts'
import { fitsFilter, stateOf } from './job-view.ts'

/** The set of each state whose jobs have a time, and the seconds or milliseconds of its times. */
const setsOf: Readonly<Partial<Record<string, TimedSet>>> = {
  dead: 'dead',
  scheduled: 'scheduled',
  retry: 'scheduled',
}

/** Jobs that one round merges. */
const jobsPerRound = 100
/** Jobs of a lane that are asked for one after another: each time only of those lanes that may have more in the round. */
const perLane = [1, 10, jobsPerRound] as const
/** Lanes whose figures one step reads. */
const lanesPerStep = 512

type Order = 'asc' | 'desc'
/** The last job that was listed. */
interface Last {
  readonly atMs: number
  readonly lane: string
  readonly id: number
}

/**
 * Jobs of a state in the order of their times, over all lanes: dead ones by when they died, others by when they are due. Jobs
 * of one time come by lane.
 */
export class TimedJobs {
  readonly #scheduler: Scheduler
  readonly #scan: JobScan

  constructor(scheduler: Scheduler, scan: JobScan) {
    this.#scheduler = scheduler
    this.#scan = scan
  }

  /** Up to `limit` jobs; one call looks at a bounded number. */
  async piece(
    { scope, ...filter }: JobFilter & { readonly scope?: Scope | undefined },
    order: Order,
    limit: number,
    cursor?: string,
  ) {
    const set = setsOf[filter.state ?? '']
    if (!set) {
      throw new ApiError('invalid_request', 'order needs the state dead, scheduled or retry')
    }
    if (filter.text !== undefined) {
      throw new ApiError('invalid_request', 'a search in payloads has no order')
    }
    const lanes = await this.#filled(set, this.#scan.lanesOf(filter, scope))
    const found: FoundJob[] = []
    let last = cursor === undefined ? undefined : this.#lastOf(cursor)
    let lookedAt = 0
    let isWhole = false
    while (!isWhole && found.length < limit && lookedAt < scanBounds.jobs) {
      const page = await this.#next(set, order, lanes, last)
      isWhole = page.length < jobsPerRound
      const states = await this.#look(page)
      for (const [at, entry] of page.entries()) {
        if (found.length === limit) {
          isWhole = false
          break
        }
        lookedAt += 1
        last = entry
        const job = states[at]
        const placed = { place: set, atMs: entry.atMs }
        if (!job || stateOf(job, placed) !== filter.state) continue
        if (fitsFilter(job, filter, this.#scheduler.storeNowMs())) found.push({ job, placed })
      }
    }
    const next = isWhole || !last ? null : this.#cursorOf(last)
    return { found, lookedAt, unsearched: 0, cursor: next }
  }

  /** The next jobs of all lanes together: of each lane the first, and more of those lanes whose jobs are all in front. */
  async #next(
    set: TimedSet,
    order: Order,
    lanes: readonly string[],
    last: Last | undefined,
  ): Promise<readonly Required<TimedJob>[]> {
    const { inspect } = this.#scheduler
    const inOrder = (one: TimedJob, other: TimedJob): number =>
      (order === 'asc' ? one.atMs - other.atMs : other.atMs - one.atMs) ||
      this.#numberOf(one.lane) - this.#numberOf(other.lane)
    const asked = { set, order, after: last && { ...last, isPast: this.#isPast(last.lane) } }
    let front: readonly Required<TimedJob>[] = []
    let some = lanes
    for (const most of perLane) {
      if (some.length === 0) break
      const again = new Set(some)
      const kept = front.filter(({ lane }) => !again.has(lane))
      const found = await inspect.timed({ ...asked, lanes: some, perLane: most })
      // Jobs of one time and lane stay in the order of their lane.
      front = [...kept, ...found].sort(inOrder).slice(0, jobsPerRound)
      const byLane = grouped(front, ({ lane }) => lane)
      some = some.filter((lane) => byLane.get(lane)?.length === most)
    }
    return front
  }

  /** Lanes whose jobs of just the same time were listed before those of `lane`. */
  #isPast(lane: string): (other: string) => boolean {
    const number = this.#numberOf(lane)
    return (other) => this.#numberOf(other) < number
  }

  #numberOf(lane: string): number {
    return this.#scheduler.registry.numberOf(lane) ?? 0
  }

  async #filled(set: TimedSet, lanes: readonly string[]): Promise<readonly string[]> {
    const filled: string[] = []
    for (let at = 0; at < lanes.length; at += lanesPerStep) {
      const sizes = await this.#scheduler.jobs.counts(lanes.slice(at, at + lanesPerStep))
      for (const counts of sizes) if (counts[set] > 0) filled.push(counts.lane)
    }
    return filled
  }

  /** The jobs themselves, in the order of the page. */
  async #look(page: readonly TimedJob[]): Promise<readonly (JobState | undefined)[]> {
    const known = new Map<string, JobState>()
    for (const lane of new Set(page.map((entry) => entry.lane))) {
      const ids = page.filter((entry) => entry.lane === lane).map(({ id }) => id)
      for (const job of await this.#scheduler.jobs.lookAll(lane, ids)) {
        if (job) known.set(`${job.id} ${lane}`, job)
      }
    }
    return page.map(({ lane, id }) => known.get(`${id} ${lane}`))
  }

  #cursorOf({ atMs, lane, id }: Last): string {
    return cursorOf([atMs, this.#numberOf(lane), id])
  }

  #lastOf(cursor: string): Last {
    const [atMs = 0, number = 0, id = 0] = numbersOf(cursor, 3)
    const lane = this.#scheduler.registry.refOf(number, id)?.lane
    if (lane === undefined) throw new ApiError('invalid_cursor', 'the function is gone')
    return { atMs, lane, id }
  }
}
