import { type LaneNames, type Level, nativeDoor } from '@crossgear/core-scheduler'
import type { RedisStore } from '@crossgear/redis-store'
import { reaching } from '../errors.ts'
import { rejectOf } from '../record/fit.ts'
import { importIdOf } from '../record/identity.ts'
import type { JobRecord, Reject } from '../record/record.ts'
import { recordOfStanding } from '../record/stored-job.ts'
import { grouped } from '../picked.ts'
import { type Page, type PageBounds, pageOf, type Source } from '../source.ts'
import { IdSet } from '../sources/id-set.ts'

/** A job's location and queueing time: all that is kept of each in memory. */
interface Found {
  readonly lanes: string[]
  /** The index of its lane, for each job. */
  readonly laneAt: number[]
  readonly ids: number[]
  readonly enqueuedAtMs: number[]
  readonly bytes: number[]
  readonly nativeLanes: Set<string>
}

/**
 * All unfinished jobs of a store, while gateways and workers go on. Each is as it was when it was read; one that is there
 * all the time is read once.
 */
export class BackupSource implements Source {
  readonly identity: string
  readonly limits = [
    'A job that a worker has is queued again where it returns to. A job that a client waits for is left out.',
  ]
  readonly #store: RedisStore
  readonly #names: LaneNames

  /** `address`: the store's, without passwords. */
  constructor(store: RedisStore, names: LaneNames, address: string) {
    this.#store = store
    this.#names = names
    this.identity = address
  }

  async *pages(_after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    const found = await reaching(this.identity, () => this.#find())
    const order = orderOf(found)
    const levels = await reaching(this.identity, () => this.#listedLevels(found.nativeLanes))
    for (let first = 0; first < order.length;) {
      let end = first
      for (let bytes = 0; end < order.length && end - first < bounds.jobs; end += 1) {
        bytes += found.bytes[order[end] ?? 0] ?? 0
        if (bytes > bounds.bytes && end > first) break
      }
      const some = order.subarray(first, end)
      first = end
      yield await reaching(this.identity, () => this.#read(found, some, levels))
    }
  }

  /** The caller that opened the store closes it. */
  close(): Promise<void> {
    return Promise.resolve()
  }

  async #find(): Promise<Found> {
    const found: Found = {
      lanes: [],
      laneAt: [],
      ids: [],
      enqueuedAtMs: [],
      bytes: [],
      nativeLanes: new Set(),
    }
    const indexes = new Map<string, number>()
    const met = new IdSet()
    for await (const jobs of this.#store.backup.unfinished()) {
      for (const { lane, id, bytes, enqueuedAtMs, isNative } of jobs) {
        if (met.has(lane, id)) continue
        met.add(lane, id)
        let index = indexes.get(lane)
        if (index === undefined) indexes.set(lane, (index = found.lanes.push(lane) - 1))
        found.laneAt.push(index)
        found.ids.push(id)
        found.enqueuedAtMs.push(enqueuedAtMs)
        found.bytes.push(bytes)
        if (isNative) found.nativeLanes.add(lane)
      }
    }
    return found
  }

  async #listedLevels(
    lanes: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, ReadonlyMap<number, Level>>> {
    const levels = new Map<string, ReadonlyMap<number, Level>>()
    for (const lane of lanes) levels.set(lane, await this.#store.backup.listedLevels(lane))
    return levels
  }

  async #read(
    found: Found,
    some: Uint32Array,
    levels: ReadonlyMap<string, ReadonlyMap<number, Level>>,
  ): Promise<Page> {
    const byLane = grouped(some, (at) => found.lanes[found.laneAt[at] ?? 0] ?? '')
    const results = new Map<number, JobRecord | Reject>()
    for (const [lane, places] of byLane) {
      const ids = places.map((at) => found.ids[at] ?? 0)
      const standing = await this.#store.imports.jobsInLane(lane, ids)
      for (const [index, at] of places.entries()) {
        const one = standing[index]
        // The job has ended since it was found.
        if (!one || one.job.status === 'success') continue
        if (one.job.status === 'error' && one.forgetAtMs === undefined) continue
        const id = ids[index] ?? 0
        if (one.job.foreground) {
          const message = `job ${id} of ${lane} has a waiting client`
          results.set(at, rejectOf('foreground', `${lane} ${id}`, message, one.job.input))
        } else {
          const importId = importIdOf(this.identity, lane, String(id), one.job.input)
          const record = recordOfStanding(one, importId, this.#names)
          const level = one.job.door === nativeDoor ? levels.get(lane)?.get(id) : undefined
          results.set(at, level === undefined ? record : { ...record, level })
        }
      }
    }
    return pageOf(Array.from(some, (at) => results.get(at) ?? []).flat())
  }
}

/** The oldest first, as they would be handed out. */
function orderOf({ ids, enqueuedAtMs, laneAt }: Found): Uint32Array {
  const order = Uint32Array.from(ids, (_id, at) => at)
  const of = (list: readonly number[], at: number): number => list[at] ?? 0
  return order.sort(
    (one, other) =>
      of(enqueuedAtMs, one) - of(enqueuedAtMs, other) ||
      of(laneAt, one) - of(laneAt, other) ||
      of(ids, one) - of(ids, other),
  )
}
