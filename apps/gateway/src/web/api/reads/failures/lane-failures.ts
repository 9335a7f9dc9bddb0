import { type Scheduler, storeDefaults } from '@crossgear/core-scheduler'
import { failureOf, type FailureKind } from '../job-view.ts'

/** Jobs that failed for good, or that are tried again. */
export type FailedSet = 'dead' | 'retries'

/** Bounds of what one process knows of failures. */
export const failureIndexBounds = {
  /** Failed jobs in all, some 30 bytes each, and of one set of a lane: of retries there is any number. */
  jobs: 2_000_000,
  jobsOfLane: 50_000,
  /** Kinds of errors over all lanes; jobs of further kinds are counted together. */
  kinds: 20_000,
  /** One call reads so many ids and failures. */
  idsPerCall: 100_000,
  failuresPerCall: 2_000,
  idsPerStep: 1_000,
  failuresPerStep: 64,
} as const

/** Reads that are left to one call, and room that is left to all lanes together. */
export interface Budget {
  ids: number
  failures: number
  jobs: number
  kinds: number
}

/** Jobs of a lane whose last failure is of one kind. */
export interface LaneGroup extends FailureKind {
  jobs: number
  firstMs: number
  lastMs: number
  /** The job that failed last. */
  exampleId: number
  /** Jobs by the hour of their failure, hours since 1970; of the last day alone. */
  readonly byHour: Map<number, number>
}

export interface LaneSummary {
  readonly groups: readonly LaneGroup[]
  /** Jobs whose failure is known, and those of them whose kind had no room. */
  readonly counted: number
  readonly ungrouped: number
}

export const hourMs = 3_600_000
export const hoursShown = 24

/** Places in the table of kinds for a job whose failure is not read yet, and for one whose kind has no room. */
const unread = -1
const ungrouped = -2

/** The jobs of a set in the order of its times: columns, as there may be a million. */
interface Known {
  readonly ids: Float64Array
  /** A job that fails again gets another time. */
  readonly times: Float64Array
  readonly failedMs: Float64Array
  readonly kinds: Int32Array
}

/**
 * The failures of one set of one lane. Each job's record is read once: when the set has changed its ids are read anew, and
 * the records of those alone that were not there before.
 */
export class LaneFailures {
  readonly #scheduler: Scheduler
  readonly #lane: string
  readonly #set: FailedSet
  #known: Known = columns(0)
  #kinds: FailureKind[] = []
  /** Position in the table by kind. */
  #kindAt = new Map<string, number>()
  #version: string | undefined
  #firstUnread = 0
  #summary: LaneSummary | undefined
  /** The look that read it last. */
  lookedAt = 0

  constructor(scheduler: Scheduler, lane: string, set: FailedSet) {
    this.#scheduler = scheduler
    this.#lane = lane
    this.#set = set
  }

  /** Jobs whose ids are known. */
  get jobs(): number {
    return this.#known.ids.length
  }

  get kinds(): number {
    return this.#kinds.length
  }

  /** True where all was read since the set last changed. `version` differs after each change. */
  isCurrent(version: string): boolean {
    return version === this.#version && this.#firstUnread === this.jobs
  }

  /** Reads on, as far as the budget goes. */
  async read(version: string, budget: Budget): Promise<void> {
    if (version !== this.#version) {
      const [jobs, kinds] = [this.jobs, this.kinds]
      await this.#readIds(budget)
      budget.jobs -= this.jobs - jobs
      budget.kinds -= this.kinds - kinds
      this.#version = version
    }
    await this.#readFailures(budget)
  }

  /** The groups as far as they are known. */
  summary(nowMs: number): LaneSummary {
    this.#summary ??= this.#summed(nowMs)
    return this.#summary
  }

  async #readIds(budget: Budget): Promise<void> {
    const { idsPerStep, jobsOfLane } = failureIndexBounds
    const most = Math.min(jobsOfLane, this.jobs + Math.max(0, budget.jobs))
    const ids: number[] = []
    const times: number[] = []
    for (let from = 0; ids.length < most;) {
      const asked = Math.min(idsPerStep, most - ids.length)
      const page = await this.#scheduler.inspect.setIds(this.#lane, this.#set, from, asked)
      for (const id of page.ids) ids.push(id)
      for (const time of page.times) times.push(time)
      from += page.seen
      budget.ids -= page.seen
      if (page.seen < asked) break
    }
    this.#keep(ids, times)
  }

  /** Takes over what is known of jobs that are still there, and forgets kinds that no job has any more. */
  #keep(ids: readonly number[], times: readonly number[]): void {
    const former = this.#known
    const formerAt = new Map<number, number>()
    for (const [at, id] of former.ids.entries()) formerAt.set(id, at)
    const known = columns(ids.length)
    const formerKinds = this.#kinds
    this.#kinds = []
    this.#kindAt = new Map()
    for (const [at, id] of ids.entries()) {
      const time = times[at] ?? 0
      known.ids[at] = id
      known.times[at] = time
      const before = formerAt.get(id)
      const isSame = before !== undefined && former.times[before] === time
      const kind = isSame ? (former.kinds[before] ?? unread) : unread
      const { [kind]: own } = formerKinds
      known.kinds[at] = own ? this.#placeOf(own) : kind
      if (isSame) known.failedMs[at] = former.failedMs[before] ?? 0
    }
    this.#known = known
    this.#firstUnread = 0
    this.#summary = undefined
  }

  async #readFailures(budget: Budget): Promise<void> {
    const { kinds, ids } = this.#known
    while (budget.failures > 0) {
      const most = Math.min(failureIndexBounds.failuresPerStep, budget.failures)
      const places: number[] = []
      let next = this.#firstUnread
      for (; next < ids.length && places.length < most; next += 1) {
        if (kinds[next] === unread) places.push(next)
      }
      if (places.length > 0) await this.#readSome(places, budget)
      this.#firstUnread = next
      if (places.length === 0) return
      budget.failures -= places.length
      this.#summary = undefined
    }
  }

  async #readSome(places: readonly number[], budget: Budget): Promise<void> {
    const { ids, times, failedMs, kinds } = this.#known
    const own = places.map((at) => ids[at] ?? 0)
    const records = await this.#scheduler.inspect.failures(this.#lane, own)
    for (const [index, at] of places.entries()) {
      const { kind, lastMs } = failureOf(records[index])
      // The store's clock says when a job died: it is forgotten a fixed time later.
      const diedMs = (times[at] ?? 0) - 1000 * storeDefaults.deadSeconds
      failedMs[at] = this.#set === 'dead' ? diedMs : (lastMs ?? Number.NaN)
      kinds[at] = this.#roomFor(kind, budget)
    }
  }

  #roomFor(kind: FailureKind, budget: Budget): number {
    if (this.#kindAt.has(keyOf(kind))) return this.#placeOf(kind)
    if (budget.kinds <= 0) return ungrouped
    budget.kinds -= 1
    return this.#placeOf(kind)
  }

  #placeOf(kind: FailureKind): number {
    const key = keyOf(kind)
    const known = this.#kindAt.get(key)
    if (known !== undefined) return known
    this.#kindAt.set(key, this.#kinds.length)
    return this.#kinds.push(kind) - 1
  }

  #summed(nowMs: number): LaneSummary {
    const { ids, failedMs, kinds } = this.#known
    const firstHour = Math.floor(nowMs / hourMs) - hoursShown
    const groups = this.#kinds.map((kind): LaneGroup => {
      return {
        ...kind,
        jobs: 0,
        firstMs: Infinity,
        lastMs: -Infinity,
        exampleId: 0,
        byHour: new Map<number, number>(),
      }
    })
    let counted = 0
    let withoutRoom = 0
    for (const [at, kind] of kinds.entries()) {
      if (kind === unread) continue
      counted += 1
      const group = groups[kind]
      if (!group) {
        withoutRoom += 1
        continue
      }
      const ms = failedMs[at] ?? Number.NaN
      group.jobs += 1
      if (group.exampleId === 0 || ms >= group.lastMs) group.exampleId = ids[at] ?? 0
      if (Number.isNaN(ms)) continue
      group.firstMs = Math.min(group.firstMs, ms)
      group.lastMs = Math.max(group.lastMs, ms)
      const hour = Math.floor(ms / hourMs)
      if (hour > firstHour) group.byHour.set(hour, (group.byHour.get(hour) ?? 0) + 1)
    }
    return { groups: groups.filter(({ jobs }) => jobs > 0), counted, ungrouped: withoutRoom }
  }
}

export function keyOf({ type, line }: FailureKind): string {
  return JSON.stringify([type, line])
}

function columns(jobs: number): Known {
  return {
    ids: new Float64Array(jobs),
    times: new Float64Array(jobs),
    failedMs: new Float64Array(jobs).fill(Number.NaN),
    kinds: new Int32Array(jobs).fill(unread),
  }
}
