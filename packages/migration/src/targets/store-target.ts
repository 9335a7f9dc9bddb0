import type { LaneNames } from '@crossgear/core-scheduler'
import type { ImportResult, RedisStore } from '@crossgear/redis-store'
import { tagOf } from '../record/identity.ts'
import { grouped } from '../picked.ts'
import type { JobName, JobRecord } from '../record/record.ts'
import { importedOf, laneOf } from '../record/stored-job.ts'
import { inTarget, lanesOf } from '../acts/lanes.ts'
import { type Ledger, rejected, type Stored, type Target } from '../target.ts'

const full: Readonly<Record<'dead' | 'notes', Stored>> = {
  dead: rejected('dead_set_full', 'the dead set of its function is full'),
  notes: rejected('not_read', 'more than 5,000,000 jobs of its function were imported in 30 days'),
}

/** A Crossgear store. */
export class StoreTarget implements Target, Ledger {
  readonly #redis: RedisStore
  readonly #names: LaneNames
  readonly #name: string
  readonly #tag: Buffer
  readonly #lanes = new Set<string>()
  readonly #arrivals: Arrivals
  /** Lanes by function and queue. */
  readonly #known = new Map<string, string>()
  /** Settles when the page before is sent: jobs of a lane keep their order. */
  #turn: Promise<unknown> = Promise.resolve()
  readonly takesPagesInAdvance = true

  constructor(store: RedisStore, names: LaneNames, name: string) {
    this.#redis = store
    this.#names = names
    this.#name = name
    this.#tag = tagOf(name)
    this.#arrivals = new Arrivals(() => store.imports.nowUs())
  }

  store(records: readonly JobRecord[]): Promise<readonly Stored[]> {
    return inTarget(() => this.#storeAll(records))
  }

  known(names: readonly JobName[]): Promise<readonly boolean[]> {
    return inTarget(async () => {
      const results = Array.from<boolean>({ length: names.length })
      for (const [lane, places] of this.#byLane(names)) {
        const importIds = places.map((at) => (names[at] as JobName).importId)
        const notes = await this.#redis.imports.notes(lane, importIds)
        for (const [index, at] of places.entries()) {
          const kind = notes[index]?.kind
          results[at] = kind !== undefined && kind !== 'moved'
        }
      }
      return results
    })
  }

  moved(names: readonly JobName[]): Promise<void> {
    return inTarget(async () => {
      const importId = (at: number): Buffer => (names[at] as JobName).importId
      for (const [lane, places] of this.#byLane(names)) {
        await this.#redis.imports.moved(lane, places.map(importId))
      }
    })
  }

  movedIds(importIds: readonly Buffer[]): Promise<void> {
    return inTarget(async () => {
      const { imports } = this.#redis
      for (const lane of await lanesOf(imports, this.#name)) await imports.moved(lane, importIds)
    })
  }

  movedAll(): Promise<void> {
    return inTarget(async () => {
      const { imports } = this.#redis
      for (const lane of await lanesOf(imports, this.#name)) {
        for await (const notes of imports.notesOf(lane, this.#tag)) {
          const left = notes.flatMap(({ kind, importId }) => (kind === 'created' ? importId : []))
          await imports.moved(lane, left)
        }
      }
    })
  }

  progress(name: string): Promise<Readonly<Record<string, string>>> {
    return inTarget(() => this.#redis.imports.migrations.progress(name))
  }

  saveProgress(name: string, fields: Readonly<Record<string, string>>): Promise<void> {
    return inTarget(() => this.#redis.imports.migrations.saveProgress(name, fields))
  }

  close(): Promise<void> {
    return this.#redis.close()
  }

  /** Lanes are made and the page is sent in the order of the pages; its answer is not waited for before the next. */
  async #storeAll(records: readonly JobRecord[]): Promise<readonly Stored[]> {
    const lanes = this.#byLane(records)
    const before = this.#turn
    const sending = (async () => {
      await before
      for (const [lane, places] of lanes) await this.#open(lane, records, places)
      // Jobs of a queue keep their order, whatever their lanes are.
      const firstUs = await this.#arrivals.next(records.length)
      return { stored: this.#send(records, lanes, firstUs) }
    })()
    // A page that failed keeps no other back: its caller hears of it.
    this.#turn = sending.catch(() => undefined)
    const stored = await (await sending).stored
    await this.#redis.confirm?.()
    return stored
  }

  async #send(
    records: readonly JobRecord[],
    lanes: ReadonlyMap<string, readonly number[]>,
    firstUs: number,
  ): Promise<readonly Stored[]> {
    const nowMs = Date.now()
    const results = Array.from<Stored>({ length: records.length })
    const storeLane = async (lane: string, places: readonly number[]): Promise<void> => {
      const jobs = places.map((at) => importedOf(records[at] as JobRecord, nowMs, firstUs + at))
      const stored = await this.#redis.imports.store(lane, this.#tag, jobs)
      for (const [index, at] of places.entries()) results[at] = storedOf(stored[index])
    }
    await Promise.all(Array.from(lanes, ([lane, places]) => storeLane(lane, places)))
    return results
  }

  /** Registers a lane, and opens it to consumers where Faktory producers pushed into it, as the door does. */
  async #open(
    lane: string,
    records: readonly JobRecord[],
    places: readonly number[],
  ): Promise<void> {
    const isFaktory = places.some((at) => records[at]?.door === 'faktory')
    const mark = isFaktory ? `${lane}\0open` : lane
    if (this.#lanes.has(mark)) return
    // A rollback finds the jobs of a lane that was noted before its first job came.
    await this.#redis.imports.migrations.saveProgress(this.#name, { [`lane:${lane}`]: '1' })
    await this.#redis.lanes.register(lane)
    if (isFaktory) await this.#redis.lanes.open(lane)
    this.#lanes.add(mark)
  }

  /** Places of the records of each lane. */
  #byLane(jobs: readonly JobName[]): ReadonlyMap<string, number[]> {
    return grouped(jobs.keys(), (at) => this.#laneOf(jobs[at] as JobName))
  }

  #laneOf(job: JobName): string {
    const name = `${job.fn}\0${job.queue ?? ''}`
    const lane = this.#known.get(name) ?? laneOf(job, this.#names)
    this.#known.set(name, lane)
    return lane
  }
}

const created: Stored = { kind: 'created' }

function storedOf(result: ImportResult | undefined): Stored {
  if (result?.kind === 'full') return full[result.what]
  return result?.kind === 'created' ? created : { kind: result?.kind ?? 'known' }
}

/** Longest age of the store clock's answer, milliseconds. */
const askEveryMs = 1_000

/**
 * Places in the order of arrival, microseconds of the store's clock: each after all earlier ones.
 * The clock is asked once a second, and awaited only the first time.
 */
class Arrivals {
  readonly #nowUs: () => Promise<number>
  #clock: { readonly storeUs: number; readonly atMs: number } | undefined
  #isAsked = false
  #lastUs = 0

  constructor(nowUs: () => Promise<number>) {
    this.#nowUs = nowUs
  }

  /** The first of this many places. */
  async next(count: number): Promise<number> {
    const clock = this.#clock ?? (await this.#ask())
    const sinceMs = performance.now() - clock.atMs
    if (sinceMs > askEveryMs) this.#askAgain()
    const firstUs = Math.max(this.#lastUs, Math.round(clock.storeUs + sinceMs * 1_000))
    this.#lastUs = firstUs + count
    return firstUs
  }

  async #ask() {
    const storeUs = await this.#nowUs()
    this.#clock = { storeUs, atMs: performance.now() }
    return this.#clock
  }

  #askAgain(): void {
    if (this.#isAsked) return
    this.#isAsked = true
    // If the store is away, the next page reports it.
    void this.#ask()
      .catch(() => undefined)
      .finally(() => (this.#isAsked = false))
  }
}
