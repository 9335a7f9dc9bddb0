import {
  type JobPlace,
  type JobState,
  type LaneCounts,
  type Scheduler,
} from '@crossgear/core-scheduler'
import { cursorOf, numbersOf } from '../cursors.ts'
import { jobStates, type ListedState } from '../schemas/common.ts'
import type { JobFilter } from '../schemas/jobs.ts'
import type { Scope } from '../scope.ts'
import { fitsFilter, type Placed, stateOf } from './job-view.ts'

/** Bounds of one call: jobs that are looked at, lanes whose figures are, and jobs of one step. */
export const scanBounds = {
  jobs: 2_000,
  lanes: 4_096,
  lanesPerStep: 512,
  jobsPerStep: 250,
  /** Jobs whose fields are read at once, some 2 ms of this process. */
  jobsPerLook: 64,
} as const

/** The places of the jobs of each state. */
const placesOf: Readonly<Record<ListedState, readonly JobPlace[]>> = {
  waiting: ['high', 'normal', 'low'],
  running: ['busy'],
  scheduled: ['scheduled'],
  retry: ['scheduled'],
  dead: ['dead'],
}
const allPlaces: readonly JobPlace[] = ['high', 'normal', 'low', 'busy', 'scheduled', 'dead']

/** True for a filter that takes jobs by more than their lane and place, so that others are read, too. */
export function readsEachJob(filter: JobFilter): boolean {
  const { text, door, state, unique, older_than_seconds: older, newer_than_seconds: newer } = filter
  const { batch, error_type: type, error_line: line } = filter
  // These two share a place.
  if (state === 'scheduled' || state === 'retry') return true
  const others = [text, door, unique, batch, older, newer, type, line]
  return others.some((given) => given !== undefined)
}

/** Jobs of these lanes alone. */
interface Scoped {
  readonly scope?: Scope | undefined
}

export interface FoundJob {
  readonly job: JobState
  readonly placed: Placed
}

/** Jobs that a piece of one place of a lane has. */
interface FoundGroup {
  readonly lane: string
  readonly place: JobPlace
  readonly piece: { readonly from: number; readonly count: number }
  readonly found: readonly FoundJob[]
}

/** Acts on a group; returns how many jobs have left their place. */
type OnFound = (group: FoundGroup) => Promise<number>

interface Budget {
  jobs: number
  lanes: number
  found: number
}

/** Position of a scan: the number of a lane, one of its places, and how many of its jobs were passed. */
interface Position {
  lane: number
  place: number
  from: number
}

/** Goes through jobs in pieces of a bounded size, whatever the number of jobs and lanes. */
export class JobScan {
  readonly #scheduler: Scheduler
  /** All lanes by their numbers, sorted when they have changed. */
  #lanes: { readonly version: number; readonly names: readonly string[] } | undefined

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /**
   * Goes on from a cursor until the budget is spent or so many jobs are found. Jobs that move meanwhile may be met
   * twice or not at all.
   */
  async piece(
    { scope, ...filter }: JobFilter & Scoped,
    max: number,
    cursor?: string,
    onFound?: OnFound,
  ) {
    const [lane = 0, place = 0, from = 0] = cursor === undefined ? [] : numbersOf(cursor, 3)
    const position: Position = { lane, place, from }
    const budget: Budget = { jobs: scanBounds.jobs, lanes: scanBounds.lanes, found: max }
    const scan = new LaneScan({ scheduler: this.#scheduler, filter, position, budget, onFound })
    const { registry } = this.#scheduler
    const lanes = this.lanesOf(filter, scope).filter(
      (name) => (registry.numberOf(name) ?? 0) >= position.lane,
    )
    for (let at = 0; at < lanes.length; at += scanBounds.lanesPerStep) {
      const some = lanes.slice(at, at + scanBounds.lanesPerStep)
      if (budget.lanes < some.length) {
        scan.stopAt(registry.numberOf(some[0] ?? '') ?? 0)
        break
      }
      budget.lanes -= some.length
      for (const counts of await this.#scheduler.jobs.counts(some)) {
        if (!(await scan.lane(counts))) break
      }
      if (scan.isStopped) break
    }
    return scan.result()
  }

  /** Jobs of the lanes that the filter names, where their number alone says which it takes. */
  async total({ scope, ...filter }: JobFilter & Scoped): Promise<number | null> {
    const { function: _fn, queue: _queue, state, ...others } = filter
    if (Object.keys(others).length > 0) return null
    const lanes = this.lanesOf(filter, scope)
    if (lanes.length > scanBounds.lanes) return null
    const all = await this.#scheduler.jobs.counts(lanes)
    return all.reduce((sum, counts) => sum + standingIn(counts, state), 0)
  }

  /** Lanes that a filter names, in the order of their numbers. */
  lanesOf(filter: JobFilter, scope: Scope | undefined): readonly string[] {
    const lanes = this.#allLanesOf(filter)
    return scope ? lanes.filter((lane) => scope.hasLane(lane)) : lanes
  }

  #allLanesOf(filter: JobFilter): readonly string[] {
    const { registry } = this.#scheduler
    const { function: fn, queue } = filter
    const byNumber = (one: string, other: string): number =>
      (registry.numberOf(one) ?? 0) - (registry.numberOf(other) ?? 0)
    if (fn !== undefined) {
      const lanes = registry.ofFunction(fn)
      const wanted = lanes.filter((lane) => !queue || registry.names.parse(lane).queue === queue)
      return [...wanted].sort(byNumber)
    }
    if (queue !== undefined) return [...registry.ofQueue(queue)].sort(byNumber)
    if (this.#lanes?.version !== registry.version) {
      const names = [...registry.all()].sort(byNumber)
      this.#lanes = { version: registry.version, names }
    }
    return this.#lanes.names
  }
}

function standingIn(counts: LaneCounts, state: ListedState | undefined): number {
  const { high, normal, low, running, scheduled, retrying, dead } = counts
  const byState: Readonly<Record<ListedState, number>> = {
    waiting: high + normal + low,
    running,
    scheduled: scheduled - retrying,
    retry: retrying,
    dead,
  }
  return state === undefined
    ? jobStates.reduce((sum, each) => sum + byState[each], 0)
    : byState[state]
}

interface LaneScanParts {
  readonly scheduler: Scheduler
  readonly filter: JobFilter
  readonly position: Position
  readonly budget: Budget
  readonly onFound: OnFound | undefined
}

/** One piece of a scan, lane by lane. */
class LaneScan {
  readonly #parts: LaneScanParts
  readonly #text: Buffer | undefined
  readonly #places: readonly JobPlace[]
  readonly #readsEach: boolean
  readonly #found: FoundJob[] = []
  #lookedAt = 0
  #unsearched = 0
  isStopped = false

  constructor(parts: LaneScanParts) {
    const { text, state } = parts.filter
    this.#parts = parts
    this.#text = text === undefined ? undefined : Buffer.from(text)
    this.#places = state === undefined ? allPlaces : placesOf[state]
    this.#readsEach = readsEachJob(parts.filter)
  }

  /** Goes through a lane; false where the budget ended in it. */
  async lane(counts: LaneCounts): Promise<boolean> {
    const { position, scheduler } = this.#parts
    const number = scheduler.registry.numberOf(counts.lane) ?? 0
    if (position.lane !== number) Object.assign(position, { lane: number, place: 0, from: 0 })
    for (; position.place < this.#places.length; position.place += 1, position.from = 0) {
      const place = this.#places[position.place] ?? 'normal'
      if (counts[place === 'busy' ? 'running' : place] === 0) continue
      if (!(await this.#inPlace(counts.lane, place))) {
        this.isStopped = true
        return false
      }
    }
    return true
  }

  /** There was no budget for the lane with this number. */
  stopAt(lane: number): void {
    Object.assign(this.#parts.position, { lane, place: 0, from: 0 })
    this.isStopped = true
  }

  result() {
    const { lane, place, from } = this.#parts.position
    const cursor = this.isStopped ? cursorOf([lane, place, from]) : null
    const [found, lookedAt, unsearched] = [this.#found, this.#lookedAt, this.#unsearched]
    return { found, lookedAt, unsearched, cursor }
  }

  async #inPlace(lane: string, place: JobPlace): Promise<boolean> {
    const { position, budget, scheduler, onFound } = this.#parts
    for (;;) {
      if (budget.jobs <= 0 || budget.found <= 0) return false
      const needed = this.#readsEach ? Infinity : budget.found
      const count = Math.min(scanBounds.jobsPerStep, budget.jobs, needed)
      const request = { lane, place, from: position.from, count }
      const page = await scheduler.inspect.page({
        ...request,
        ...(this.#text && { text: this.#text }),
      })
      const states = await this.#look(
        lane,
        page.jobs.map(({ id }) => id),
      )
      const found: FoundJob[] = []
      let passed = page.seen
      for (const [at, { offset, atMs }] of page.jobs.entries()) {
        const job = states[at]
        const placed = { place, ...(atMs !== undefined && { atMs }) }
        if (!job || !this.#matches(job, placed)) continue
        found.push({ job, placed })
        if (found.length < budget.found) continue
        passed = offset + 1
        break
      }
      this.#lookedAt += passed
      this.#unsearched += page.unsearched
      budget.jobs -= Math.max(1, passed)
      budget.found -= found.length
      const piece = { from: position.from, count: passed }
      const group = { lane, place, piece, found }
      const left = onFound && found.length > 0 ? await onFound(group) : 0
      position.from += passed - left
      this.#found.push(...found)
      if (passed === page.seen && !page.more) return true
      if (page.seen === 0) return true
    }
  }

  /** In pieces, so that the doors are served in between. */
  async #look(lane: string, ids: readonly number[]): Promise<readonly (JobState | undefined)[]> {
    const jobs: (JobState | undefined)[] = []
    for (let at = 0; at < ids.length; at += scanBounds.jobsPerLook) {
      const some = ids.slice(at, at + scanBounds.jobsPerLook)
      jobs.push(...(await this.#parts.scheduler.jobs.lookAll(lane, some)))
    }
    return jobs
  }

  #matches(job: JobState, placed: Placed): boolean {
    const { filter, scheduler } = this.#parts
    const { state } = filter
    if (state !== undefined && placed.place === 'scheduled' && stateOf(job, placed) !== state) {
      return false
    }
    return fitsFilter(job, filter, scheduler.storeNowMs())
  }
}
