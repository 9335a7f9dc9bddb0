import type { ServerConnection } from '@crossgear/redis-store'
import { reaching } from '../../errors.ts'
import { isRecord, type JobRecord, type RecordState, type Reject } from '../../record/record.ts'
import type { Page, PageBounds, Source } from '../../source.ts'
import { averageBytes, type Commands, countIn, repliesTo } from './redis-reads.ts'
import { type Others, reasonsOf } from '../others.ts'
import { RemovedNote } from '../removed-note.ts'

/** A list or sorted set, and how to read its members. */
export interface Place {
  readonly key: string
  readonly type: 'list' | 'zset'
  readonly state: RecordState
  /** The end of a list with its oldest member. */
  readonly oldest?: 'left' | 'right'
  /** The queue of its jobs, if they do not name it. */
  readonly queue?: string
}

export interface Member {
  readonly raw: Buffer
  /** Absent in a list. */
  readonly score?: number
}

/** A job, and where it was read. */
export interface ReadMember {
  readonly place: Place
  readonly member: Member
  readonly record: JobRecord
}

export type Result = JobRecord | Reject | undefined

export interface PlacesOptions {
  readonly identity: string
  readonly limits: readonly string[]
  /** Other connections to the server. */
  readonly clients: Others
  /** Of what, and programs that may have these, as the reason tells it: `Redis: Sidekiq runs on it`. */
  readonly users: string
  readonly places: readonly Place[]
}

/** Progress of a walk: its place, and the number of members passed. */
interface Cursor {
  readonly key: string
  readonly offset: number
}

/** Retention of a returned job's mark, seconds: seven days. */
const markKeptSeconds = 7 * 24 * 3600

/** A source whose jobs stand in lists and sorted sets of a Redis, read in the order given. */
export abstract class PlacesSource implements Source {
  readonly identity: string
  readonly limits: readonly string[]
  readonly liveReason?: string
  readonly unseenReason?: string
  protected readonly redis: ServerConnection
  readonly #places: readonly Place[]
  /** Places of the last page's records. */
  readonly #read = new Map<JobRecord, ReadMember>()
  /** Members removed since from the last page's places. */
  readonly #removed = new Map<string, number>()
  readonly #note: RemovedNote

  constructor(
    redis: ServerConnection,
    { identity, limits, clients, users, places }: PlacesOptions,
  ) {
    this.redis = redis
    this.identity = identity
    this.limits = limits
    this.#places = places
    this.#note = new RemovedNote(redis, identity)
    Object.assign(
      this,
      reasonsOf(clients, `${clients.count} other connections are open to this ${users}`),
    )
  }

  /** Jobs of members, in order; undefined for a foreign one. */
  protected abstract recordsOf(
    place: Place,
    members: readonly Member[],
  ): readonly Result[] | Promise<readonly Result[]>

  /** Called before members of a place are read, from an offset on. */
  protected onPlace?(place: Place, offset: number): Promise<void>

  /** Adds commands to those that remove a member. */
  protected onRemove?(commands: Commands, read: ReadMember): void

  /** Restores a job where it was. */
  protected putBack?(commands: Commands, record: JobRecord): void

  /** Bytes of the jobs of members. */
  protected sizesOf(
    _place: Place,
    members: readonly Member[],
  ): readonly number[] | Promise<readonly number[]> {
    return members.map(({ raw }) => raw.length)
  }

  close(): Promise<void> {
    this.redis.disconnect()
    return Promise.resolve()
  }

  total(): Promise<number> {
    return reaching(this.identity, async () => {
      const sizes = await Promise.all(this.#places.map((place) => this.#size(place)))
      return sizes.reduce((sum, size) => sum + size, 0)
    })
  }

  async *pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    const { identity } = this
    const places = this.#places
    const start = after === undefined ? undefined : (JSON.parse(after) as Cursor)
    const from = places.findIndex(({ key }) => key === start?.key)
    let draft: Draft = emptyDraft()
    let cursor = ''
    for (const [at, place] of places.slice(Math.max(0, from)).entries()) {
      let offset = at === 0 && from >= 0 ? (start?.offset ?? 0) : 0
      await reaching(identity, async () => this.onPlace?.(place, offset))
      const average = await reaching(identity, () => averageBytes(this.redis, place))
      for (;;) {
        const room = Math.floor((bounds.bytes - draft.bytes) / average)
        const count = Math.max(1, Math.min(bounds.jobs - jobsOf(draft), room))
        const found = await reaching(identity, () => this.#members(place, offset, count))
        const sizes = await reaching(identity, async () => this.sizesOf(place, found))
        const members = found.slice(0, countIn(sizes, bounds.bytes - draft.bytes))
        offset += members.length
        cursor = JSON.stringify({ key: place.key, offset } satisfies Cursor)
        await reaching(identity, () => this.#add(draft, place, members))
        for (const size of sizes.slice(0, members.length)) draft.bytes += size
        const isCut = members.length < found.length
        if (isCut || jobsOf(draft) >= bounds.jobs || draft.bytes + average > bounds.bytes) {
          this.#removed.clear()
          yield { records: draft.records, rejects: draft.rejects, cursor }
          draft = emptyDraft()
          this.#read.clear()
          offset -= this.#removed.get(place.key) ?? 0
        }
        if (found.length < count && !isCut) break
      }
    }
    if (jobsOf(draft) > 0) yield { records: draft.records, rejects: draft.rejects, cursor }
  }

  /** Removes jobs of the last page. */
  remove(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      const found = records.flatMap((record) => this.#read.get(record) ?? [])
      const transaction = this.redis.multi()
      for (const { place, member } of found) {
        // The oldest stand at the end that is searched first, so this is short.
        if (place.type === 'zset') transaction.zrem(place.key, member.raw)
        else transaction.lrem(place.key, place.oldest === 'left' ? 1 : -1, member.raw)
      }
      for (const read of found) this.onRemove?.(transaction, read)
      for (const record of records) transaction.del(markOf(record))
      this.#note.write(transaction, records)
      const replies = await repliesTo(transaction)
      for (const [at, { place }] of found.entries()) {
        this.#removed.set(place.key, (this.#removed.get(place.key) ?? 0) + Number(replies[at]))
      }
    })
  }

  lastRemoved(): Promise<readonly Buffer[]> {
    return reaching(this.identity, () => this.#note.read())
  }

  forgetRemoved(): Promise<void> {
    return reaching(this.identity, () => this.#note.drop())
  }

  /**
   * Restores moved jobs, each once: a mark is made in the same step, so a killed rollback can be
   * repeated.
   */
  restore(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      const asking = this.redis.pipeline()
      for (const record of records) asking.exists(markOf(record))
      const present = await repliesTo(asking)
      const transaction = this.redis.multi()
      for (const [at, record] of records.entries()) {
        if (present[at] === 1) continue
        transaction.set(markOf(record), 1, 'EX', markKeptSeconds)
        this.putBack?.(transaction, record)
      }
      await repliesTo(transaction)
    })
  }

  #size({ key, type }: Place): Promise<number> {
    return type === 'list' ? this.redis.llen(key) : this.redis.zcard(key)
  }

  /** Members after an offset, the oldest or next due first. */
  async #members({ key, type, oldest }: Place, offset: number, count: number): Promise<Member[]> {
    if (type === 'list' && oldest === 'left') {
      const raws = await this.redis.lrangeBuffer(key, offset, offset + count - 1)
      return raws.map((raw) => ({ raw }))
    }
    if (type === 'list') {
      const raws = await this.redis.lrangeBuffer(key, -offset - count, -offset - 1)
      return raws.reverse().map((raw) => ({ raw }))
    }
    const [first, last] = [String(offset), String(offset + count - 1)]
    const pairs = await this.redis.zrangeBuffer(key, first, last, 'WITHSCORES')
    const members: Member[] = []
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      members.push({ raw: pairs[at] as Buffer, score: Number(String(pairs[at + 1])) })
    }
    return members
  }

  async #add(draft: Draft, place: Place, members: readonly Member[]): Promise<void> {
    const results = await this.recordsOf(place, members)
    for (const [at, member] of members.entries()) {
      const result = results[at]
      if (!result) continue
      if (isRecord(result)) {
        this.#read.set(result, { place, member, record: result })
        draft.records.push(result)
      } else draft.rejects.push(result)
    }
  }
}

interface Draft {
  readonly records: JobRecord[]
  readonly rejects: Reject[]
  bytes: number
}

function emptyDraft(): Draft {
  return { records: [], rejects: [], bytes: 0 }
}

function jobsOf({ records, rejects }: Draft): number {
  return records.length + rejects.length
}

/** Mark at the source of a returned job. */
function markOf({ importId }: JobRecord): string {
  return `crossgear:restored:${importId.toString('hex')}`
}
