import type { LaneNames } from '@crossgear/core-scheduler'
import type { ImportResult, RedisStore } from '@crossgear/redis-store'
import { reaching } from '../errors.ts'
import { tagOf } from '../identity.ts'
import type { JobRecord } from '../record.ts'
import { importedOf, laneOf } from '../stored-job.ts'
import { lanesOf } from '../lanes.ts'
import type { Ledger, Stored, Target } from '../target.ts'

const full: Readonly<Record<'dead' | 'notes', Stored>> = {
  dead: {
    kind: 'rejected',
    reason: 'dead_set_full',
    message: 'the dead set of its function is full',
  },
  notes: {
    kind: 'rejected',
    reason: 'not_read',
    message: 'more than 5,000,000 jobs of its function were imported in 30 days',
  },
}

const side = 'The target store'
/** Lanes whose jobs are under way at the same time. */
const lanesAtOnce = 16

/** A Crossgear store. */
export class StoreTarget implements Target, Ledger {
  readonly #redis: RedisStore
  readonly #names: LaneNames
  readonly #name: string
  readonly #tag: Buffer
  readonly #lanes = new Set<string>()
  #lastUs = 0
  /** Settles when the page before is stored: jobs of a lane keep their order. */
  #turn: Promise<void> = Promise.resolve()
  readonly takesPagesAhead = true

  constructor(store: RedisStore, names: LaneNames, name: string) {
    this.#redis = store
    this.#names = names
    this.#name = name
    this.#tag = tagOf(name)
  }

  store(records: readonly JobRecord[]): Promise<readonly Stored[]> {
    return reaching(side, () => this.#storeAll(records))
  }

  moved(records: readonly JobRecord[]): Promise<void> {
    return reaching(side, async () => {
      for (const [lane, some] of this.#byLane(records)) {
        await this.#redis.imports.moved(
          lane,
          some.map(({ importId }) => importId),
        )
      }
    })
  }

  movedIds(importIds: readonly Buffer[]): Promise<void> {
    return reaching(side, async () => {
      const { imports } = this.#redis
      for (const lane of await lanesOf(imports, this.#name)) await imports.moved(lane, importIds)
    })
  }

  movedAll(): Promise<void> {
    return reaching(side, async () => {
      const { imports } = this.#redis
      for (const lane of await lanesOf(imports, this.#name)) {
        for await (const notes of imports.notesOf(lane, this.#tag)) {
          const left = notes.filter(({ kind }) => kind === 'created')
          await imports.moved(
            lane,
            left.map(({ importId }) => importId),
          )
        }
      }
    })
  }

  progress(name: string): Promise<Readonly<Record<string, string>>> {
    return reaching(side, () => this.#redis.imports.progress(name))
  }

  saveProgress(name: string, fields: Readonly<Record<string, string>>): Promise<void> {
    return reaching(side, () => this.#redis.imports.saveProgress(name, fields))
  }

  close(): Promise<void> {
    return this.#redis.close()
  }

  async #storeAll(records: readonly JobRecord[]): Promise<readonly Stored[]> {
    const nowMs = Date.now()
    // Jobs of a queue keep their order, whatever their lanes are.
    const firstUs = await this.#nextUs(records.length)
    const imported = new Map(
      records.map((record, at) => [record, importedOf(record, nowMs, firstUs + at)]),
    )
    const results = new Map<JobRecord, Stored>()
    // The lanes of a page go out together.
    const storeLane = async ([lane, some]: readonly [string, JobRecord[]]): Promise<void> => {
      await this.#open(lane, some)
      const jobs = some.flatMap((record) => imported.get(record) ?? [])
      const stored = await this.#redis.imports.store(lane, this.#tag, jobs)
      for (const [at, record] of some.entries()) results.set(record, storedOf(stored[at]))
    }
    await this.#inTurn(async () => {
      for (const lanes of chunks([...this.#byLane(records)], lanesAtOnce)) {
        await Promise.all(lanes.map(storeLane))
      }
    })
    await this.#redis.confirm?.()
    return records.map((record) => results.get(record) ?? { kind: 'known' })
  }

  /** One page at a time, in the order in which they came. */
  async #inTurn(act: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(act)
    // A page that failed keeps no other back: its caller hears of it.
    this.#turn = turn.catch(() => undefined)
    await turn
  }

  /** Microseconds that come after all that were given before. */
  async #nextUs(count: number): Promise<number> {
    const nowUs = await this.#redis.imports.nowUs()
    // Another page may have been given its own meanwhile.
    const firstUs = Math.max(this.#lastUs, nowUs)
    this.#lastUs = firstUs + count
    return firstUs
  }

  /** Registers a lane, and opens it to consumers where Faktory producers pushed into it, as the door does. */
  async #open(lane: string, records: readonly JobRecord[]): Promise<void> {
    const isFaktory = records.some(({ door }) => door === 'faktory')
    const mark = isFaktory ? `${lane}\0open` : lane
    if (this.#lanes.has(mark)) return
    // A rollback finds the jobs of a lane that was noted before its first job came.
    await this.#redis.imports.saveProgress(this.#name, { [`lane:${lane}`]: '1' })
    await this.#redis.registerLane(lane)
    if (isFaktory) await this.#redis.openLane(lane)
    this.#lanes.add(mark)
  }

  #byLane(records: readonly JobRecord[]): ReadonlyMap<string, JobRecord[]> {
    const lanes = new Map<string, JobRecord[]>()
    for (const record of records) {
      const lane = laneOf(record, this.#names)
      const some = lanes.get(lane)
      if (some) some.push(record)
      else lanes.set(lane, [record])
    }
    return lanes
  }
}

function storedOf(result: ImportResult | undefined): Stored {
  if (result?.kind === 'full') return full[result.what]
  return { kind: result?.kind ?? 'known' }
}

function* chunks<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let first = 0; first < items.length; first += size) yield items.slice(first, first + size)
}
