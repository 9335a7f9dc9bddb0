import { FwpError, scanFields } from '@crossgear/fwp-codec'
import type { ServerConnection } from '@crossgear/gearmonkey-redis/store'
import { reaching } from '../errors.ts'
import { faktoryOfRecord, recordOfFaktory, type FaktoryPlace } from '../faktory-job.ts'
import { keptRejectBytes } from '../fit.ts'
import type { JobRecord, RecordState, Reject } from '../record.ts'
import type { Page, PageBounds, Source } from '../source.ts'
import { isRecord } from './gearmand-row.ts'
import { averageBytes, otherClients, scanKeys } from './redis-reads.ts'

const limits = [
  'Locks (unique_for) and batches of Faktory Enterprise are not read: their jobs come without them.',
  'A job that a worker has (working) is queued again, and its run may be repeated.',
]

/** One list or sorted set, and how its members are read. */
interface Place {
  readonly key: string
  readonly type: 'list' | 'zset'
  readonly state: RecordState
}

const sets: readonly Place[] = [
  { key: 'scheduled', type: 'zset', state: 'scheduled' },
  { key: 'retries', type: 'zset', state: 'retry' },
  { key: 'dead', type: 'zset', state: 'dead' },
  { key: 'working', type: 'zset', state: 'working' },
]

/** Sorted sets that jobs go back to; jobs of any other state are queued. */
const setOf: Partial<Record<RecordState, string>> = {
  scheduled: 'scheduled',
  retry: 'retries',
  dead: 'dead',
}

/** Jobs of a queue, the newest first, that are searched for one that was put back before. */
const newestLookedAt = 10_000

interface RestoredMember {
  /** Absent: its queue. */
  readonly set: string | undefined
  /** Seconds since 1970. */
  readonly score: number
  readonly queue: string
  readonly text: string
}

/** How far a walk is: which place, and how many of its members lie behind. */
interface Cursor {
  readonly key: string
  readonly offset: number
}

interface Member {
  readonly raw: Buffer
  /** Seconds since 1970; none in a list. */
  readonly score?: number
}

/** The Redis of a Faktory server: its queues (up to 1.9 and from 1.10), and its sets. */
export class FaktoryRedisSource implements Source {
  readonly identity: string
  readonly limits = limits
  readonly liveReason?: string
  readonly #redis: ServerConnection
  readonly #places: readonly Place[]
  /** By record: where it was read. */
  readonly #read = new WeakMap<JobRecord, { readonly place: Place; readonly member: Member }>()
  /** Members of the place that is walked which were removed since. */
  #removed = 0

  private constructor(
    redis: ServerConnection,
    { identity, places, clients }: { identity: string; places: readonly Place[]; clients: number },
  ) {
    this.#redis = redis
    this.identity = identity
    this.#places = places
    if (clients > 0) {
      this.liveReason = `${clients} other connections are open to this Redis: a Faktory server runs on it`
    }
  }

  static open(redis: ServerConnection, identity: string): Promise<FaktoryRedisSource> {
    return reaching(identity, async () => {
      const clients = await otherClients(redis)
      return new FaktoryRedisSource(redis, { identity, places: await placesOf(redis), clients })
    })
  }

  total(): Promise<number> {
    return reaching(this.identity, async () => {
      const sizes = await Promise.all(this.#places.map((place) => this.#size(place)))
      return sizes.reduce((sum, size) => sum + size, 0)
    })
  }

  async *pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    const start = after === undefined ? undefined : (JSON.parse(after) as Cursor)
    const from = this.#places.findIndex(({ key }) => key === start?.key)
    for (const [at, place] of this.#places.slice(Math.max(0, from)).entries()) {
      let offset = at === 0 && from >= 0 ? (start?.offset ?? 0) : 0
      const average = await reaching(this.identity, () => averageBytes(this.#redis, place.key))
      const count = Math.max(1, Math.min(bounds.jobs, Math.floor(bounds.bytes / average)))
      for (;;) {
        this.#removed = 0
        const members = await reaching(this.identity, () => this.#members(place, offset, count))
        if (members.length === 0) break
        offset += members.length
        yield this.#page(place, members, offset)
        offset -= this.#removed
      }
    }
  }

  remove(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      const transaction = this.#redis.multi()
      for (const record of records) {
        const read = this.#read.get(record)
        if (!read) continue
        const { place, member } = read
        // The oldest are at the right: this looks at few.
        if (place.type === 'list') transaction.lrem(place.key, -1, member.raw)
        else transaction.zrem(place.key, member.raw)
      }
      const replies = (await transaction.exec()) ?? []
      for (const [error, removed] of replies) {
        if (error) throw error
        this.#removed += Number(removed)
      }
    })
  }

  restore(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      const members = records.map((record) => this.#restoredMember(record))
      const present = await this.#alreadyQueued(members)
      const transaction = this.#redis.multi()
      for (const { set, score, queue, text } of members) {
        if (set !== undefined) transaction.zadd(set, score, text)
        else if (!present.has(text)) {
          transaction.sadd('queues', queue).lpush(this.#listOf(queue), text)
        }
      }
      for (const [error] of (await transaction.exec()) ?? []) if (error) throw error
    })
  }

  close(): Promise<void> {
    this.#redis.disconnect()
    return Promise.resolve()
  }

  #restoredMember(record: JobRecord): RestoredMember {
    const { state, dueAtMs = Date.now(), forgetAtMs = dueAtMs, queue = 'default' } = record
    const text = faktoryOfRecord(record, queue)
    const set = setOf[state]
    return { set, score: (state === 'dead' ? forgetAtMs : dueAtMs) / 1000, queue, text }
  }

  /** Jobs that a rollback which was killed has put back: they stand among the newest of their queue. */
  async #alreadyQueued(members: readonly RestoredMember[]): Promise<ReadonlySet<string>> {
    const queued = members.filter(({ set }) => set === undefined)
    const pipeline = this.#redis.pipeline()
    for (const { queue, text } of queued) {
      pipeline.lpos(this.#listOf(queue), text, 'RANK', 1, 'MAXLEN', newestLookedAt)
    }
    const replies = (await pipeline.exec()) ?? []
    for (const [error] of replies) if (error) throw error
    return new Set(queued.filter((_member, at) => replies[at]?.[1] != null).map(({ text }) => text))
  }

  /** As this server calls its lists: from 1.10 on with `q:`. */
  #listOf(queue: string): string {
    const isOld = this.#places.some(({ key, type }) => type === 'list' && !key.startsWith('q:'))
    return isOld ? queue : `q:${queue}`
  }

  #size({ key, type }: Place): Promise<number> {
    return type === 'list' ? this.#redis.llen(key) : this.#redis.zcard(key)
  }

  /** Members behind an offset, the oldest or next due first. */
  async #members({ key, type }: Place, offset: number, count: number): Promise<Member[]> {
    if (type === 'list') {
      const raws = await this.#redis.lrangeBuffer(key, -offset - count, -offset - 1)
      return raws.reverse().map((raw) => ({ raw }))
    }
    const pairs = await this.#redis.zrangeBuffer(
      key,
      String(offset),
      String(offset + count - 1),
      'WITHSCORES',
    )
    const members: Member[] = []
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      members.push({ raw: pairs[at] as Buffer, score: Number(String(pairs[at + 1])) })
    }
    return members
  }

  #page(place: Place, members: readonly Member[], offset: number): Page {
    const records: JobRecord[] = []
    const rejects: Reject[] = []
    for (const member of members) {
      const result = this.#recordOf(place, member)
      if (isRecord(result)) {
        this.#read.set(result, { place, member })
        records.push(result)
      } else rejects.push(result)
    }
    return { records, rejects, cursor: JSON.stringify({ key: place.key, offset } satisfies Cursor) }
  }

  #recordOf({ key, state }: Place, { raw, score = 0 }: Member): JobRecord | Reject {
    const ms = Math.round(score * 1000)
    const place: FaktoryPlace = {
      state,
      where: key,
      ...((state === 'scheduled' || state === 'retry') && { dueAtMs: ms }),
      ...(state === 'dead' && { forgetAtMs: ms }),
    }
    if (state !== 'working') return recordOfFaktory(raw, place, this.identity)
    const job = jobOfWorking(raw)
    if (job) return recordOfFaktory(job, place, this.identity)
    const message = 'a member of working has no job'
    return { reason: 'bad_job', message, where: key, raw: raw.subarray(0, keptRejectBytes) }
  }
}

/** The bytes of the job in `{"job":{...},"reserved_at",...}`; its numbers must not change. */
function jobOfWorking(raw: Buffer): Buffer | undefined {
  try {
    const job = scanFields(raw.toString()).get('job')
    return job && Buffer.from(job.value)
  } catch (error) {
    if (error instanceof FwpError) return undefined
    throw error
  }
}

async function placesOf(redis: ServerConnection): Promise<readonly Place[]> {
  const named = (await redis.smembers('queues')).flatMap((queue) => [`q:${queue}`, queue])
  const found = await scanKeys(redis, 'q:*')
  const keys = [...new Set([...named, ...found])].sort()
  const types = await Promise.all(keys.map((key) => redis.type(key)))
  const lists = keys.filter((_key, at) => types[at] === 'list')
  return [...lists.map((key) => ({ key, type: 'list', state: 'queued' }) as const), ...sets]
}
