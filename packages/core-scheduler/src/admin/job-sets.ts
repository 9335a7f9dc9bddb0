import type { NodeContext } from '../node/node-context.ts'
import type { Job, JobRef } from '../model/job.ts'
import type { JobAct } from '../observer.ts'
import type { Due, JobSet, SetExit } from '../store/queue-ports.ts'
import { Part } from '../node/node-parts.ts'

/** Jobs looked at per step. */
const jobsPerStep = 500
/** Jobs whose payloads are looked at per step: they are in memory together. */
const matchedPerStep = 32
/** Jobs moved per step: some 2 ms of the store's time. */
const movedPerStep = 48
/** Jobs of all lanes together that are read before the first of them is moved. */
const maxRead = 100_000

/** Selects jobs of a set; an empty filter selects all. */
export interface SetFilter {
  /** Only jobs of this function. */
  readonly fn?: string
  /** May take its time, so that others pass. */
  readonly matches?: Matches
}

type Matches = (job: Job) => boolean | Promise<boolean>

/** How far a set of a lane has been read. */
interface Reading {
  readonly lane: string
  /** Members that stay in the set, at its beginning. */
  stayed: number
  /** Jobs that were read and are to be moved, the first one first. */
  found: FoundJob[]
  hasMore: boolean
}

interface FoundJob {
  readonly id: number
  /** When it is due, or dropped. */
  readonly time: number
}

/** As what a move is counted; copies are not. */
const acts: Readonly<Record<Exclude<SetExit, Due>, JobAct | undefined>> = {
  queue: 'requeued',
  dead: 'killed',
  cancelled: 'cancelled',
  deleted: 'deleted',
  moved: 'moved',
  withdrawn: undefined,
}

/** Operations on scheduled, retried and dead jobs, over all lanes. */
export class JobSets extends Part<NodeContext> {
  /** Moves the selected jobs of a set; into queues in the order in which they are due, over all lanes. Returns how many. */
  async move(set: JobSet, filter: SetFilter, to: SetExit): Promise<number> {
    const { registry } = this.parts
    const lanes = filter.fn === undefined ? [...registry.all()] : registry.ofFunction(filter.fn)
    if (to === 'queue') return await this.#moveInOrder(lanes, set, filter.matches)
    let count = 0
    for (const lane of lanes) count += await this.#moveOfLane(lane, set, filter.matches, to)
    return count
  }

  /** Moves the named jobs, if they are still in the set; returns how many were. */
  async moveThese(set: JobSet, refs: readonly JobRef[], to: SetExit): Promise<number> {
    const byLane = new Map<string, number[]>()
    for (const { lane, id } of refs) {
      const ids = byLane.get(lane)
      if (ids) ids.push(id)
      else byLane.set(lane, [id])
    }
    let count = 0
    for (const [lane, ids] of byLane) count += (await this.#move(lane, set, ids, to)).length
    return count
  }

  /** Moves jobs of one lane to their destination; returns how many were in the set. */
  async moveOf(lane: string, set: JobSet, ids: readonly number[], to: SetExit): Promise<number> {
    return (await this.#move(lane, set, ids, to)).length
  }

  /** The same; returns which ones were in the set. */
  moveEach(
    lane: string,
    set: JobSet,
    ids: readonly number[],
    to: SetExit,
  ): Promise<readonly number[]> {
    return this.#move(lane, set, ids, to)
  }

  async #moveOfLane(
    lane: string,
    set: JobSet,
    matches: Matches | undefined,
    to: SetExit,
  ): Promise<number> {
    const reading: Reading = { lane, stayed: 0, found: [], hasMore: true }
    let count = 0
    while (reading.hasMore) {
      await this.#read(reading, set, matches, jobsPerStep)
      count += await this.#moveFound(reading, reading.found.splice(0), set, to)
    }
    return count
  }

  async #moveInOrder(
    lanes: readonly string[],
    set: JobSet,
    matches: Matches | undefined,
  ): Promise<number> {
    let count = 0
    const perPage = Math.max(1, Math.min(jobsPerStep, Math.floor(maxRead / lanes.length)))
    let readings = lanes.map((lane): Reading => ({ lane, stayed: 0, found: [], hasMore: true }))
    while (readings.length > 0) {
      for (const reading of readings) {
        while (reading.found.length === 0 && reading.hasMore) {
          await this.#read(reading, set, matches, perPage)
        }
      }
      readings = readings.filter(({ found }) => found.length > 0)
      count += await this.#moveFirst(readings, set)
    }
    return count
  }

  /** Moves all jobs before which no lane can have others that were not read. */
  async #moveFirst(readings: readonly Reading[], set: JobSet): Promise<number> {
    let count = 0
    const until = readings.reduce(
      (time, { found, hasMore }) => Math.min(time, hasMore ? (found.at(-1)?.time ?? time) : time),
      Infinity,
    )
    const due = readings.flatMap((reading) => {
      const later = reading.found.findIndex(({ time }) => time > until)
      const jobs = reading.found.splice(0, later < 0 ? reading.found.length : later)
      return jobs.map((job) => ({ reading, job }))
    })
    due.sort((one, other) => one.job.time - other.job.time)
    for (let at = 0; at < due.length; at += movedPerStep) {
      const runs: { readonly reading: Reading; readonly jobs: FoundJob[] }[] = []
      for (const { reading, job } of due.slice(at, at + movedPerStep)) {
        const last = runs.at(-1)
        if (last?.reading === reading) last.jobs.push(job)
        else runs.push({ reading, jobs: [job] })
      }
      // The store takes calls in the order in which they are sent.
      const moved = await Promise.all(
        runs.map(({ reading, jobs }) => this.#moveFound(reading, jobs, set, 'queue')),
      )
      count = moved.reduce((sum, some) => sum + some, count)
    }
    return count
  }

  async #moveFound(
    reading: Reading,
    jobs: readonly FoundJob[],
    set: JobSet,
    to: SetExit,
  ): Promise<number> {
    const ids = jobs.map(({ id }) => id)
    const { length: moved } = await this.#move(reading.lane, set, ids, to)
    reading.stayed += jobs.length - moved
    return moved
  }

  /** Reads the next page of a lane; those found in the last one have been moved. */
  async #read(
    reading: Reading,
    set: JobSet,
    matches: Matches | undefined,
    count: number,
  ): Promise<void> {
    const { lane } = reading
    const { ids, times, seen } = await this.parts.store.inspect.setIds(
      lane,
      set,
      reading.stayed,
      count,
    )
    const wanted = new Set(matches ? await this.#matching(lane, ids, matches) : ids)
    const page = ids.map((id, at) => ({ id, time: times[at] ?? 0 }))
    reading.found = page.filter(({ id }) => wanted.has(id))
    reading.stayed += seen - wanted.size
    reading.hasMore = seen > 0
  }

  async #matching(
    lane: string,
    ids: readonly number[],
    matches: Matches,
  ): Promise<readonly number[]> {
    const found: number[] = []
    for (let at = 0; at < ids.length; at += matchedPerStep) {
      const some = ids.slice(at, at + matchedPerStep)
      for (const job of await this.parts.store.jobs.read(lane, some)) {
        if (job && (await matches(job))) found.push(job.id)
      }
    }
    return found
  }

  async #move(
    lane: string,
    set: JobSet,
    ids: readonly number[],
    to: SetExit,
  ): Promise<readonly number[]> {
    if (set === to) return []
    const { store, waiters, observer } = this.parts
    const isDue = typeof to === 'object'
    const act = isDue ? undefined : acts[to]
    const all: number[] = []
    for (let at = 0; at < ids.length; at += movedPerStep) {
      const moved = await store.queues.moveJobs(lane, set, ids.slice(at, at + movedPerStep), to)
      if (act && moved.length > 0) observer.acted(lane, act, moved.length)
      if (to !== 'queue' && !isDue) {
        for (const id of moved) waiters.notify({ lane, id }, { kind: 'fail' })
      }
      all.push(...moved)
    }
    return all
  }
}
