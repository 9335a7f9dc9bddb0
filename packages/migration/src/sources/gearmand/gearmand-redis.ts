import type { ServerConnection } from '@crossgear/redis-store'
import { reaching } from '../../errors.ts'
import type { JobRecord, Reject } from '../../record/record.ts'
import { type Page, type PageBounds, pageOf, type Source } from '../../source.ts'
import { ambiguous, splitKey } from './gearmand-key.ts'
import { recordOfRow } from './gearmand-row.ts'
import { nameOf, priorityOf } from './gearmand-table.ts'
import { countIn, escapedPattern, otherClients, repliesTo } from '../redis/redis-reads.ts'
import { type Others, reasonsOf } from '../others.ts'
import { RemovedNote } from '../removed-note.ts'

const limits = [
  'This queue keeps no order, no run times (EPOCH jobs are not in it), and before 1.1.16 no priorities.',
  'A function of an old key with several hyphens is known only if --function names it.',
]

export interface GearmandRedisOptions {
  readonly identity: string
  /** gearmand's `--redis-prefix`. */
  readonly prefix: string
  readonly functions: readonly string[]
}

interface Entry {
  readonly key: Buffer
  readonly isHash: boolean
  readonly bytes: number
}

/** The keys of `gearmand -q redis`: strings up to 1.1.15, then hashes. */
export class GearmandRedisSource implements Source {
  readonly identity: string
  readonly limits = limits
  readonly liveReason?: string
  readonly unseenReason?: string
  readonly #redis: ServerConnection
  readonly #start: Buffer
  readonly #functions: readonly string[]
  readonly #note: RemovedNote

  private constructor(redis: ServerConnection, options: GearmandRedisOptions, clients: Others) {
    this.#redis = redis
    this.identity = options.identity
    this.#start = Buffer.from(`${options.prefix}-`)
    this.#functions = options.functions
    this.#note = new RemovedNote(redis, options.identity)
    const who = `${clients.count} other connections are open to this Redis, and jobs that run are still in it`
    Object.assign(this, reasonsOf(clients, who))
  }

  static open(
    redis: ServerConnection,
    options: GearmandRedisOptions,
  ): Promise<GearmandRedisSource> {
    return reaching(
      options.identity,
      async () => new GearmandRedisSource(redis, options, await otherClients(redis)),
    )
  }

  async *pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    const pattern = `${escapedPattern(this.#start.toString())}*`
    let cursor = after ?? '0'
    do {
      const [next, keys] = await reaching(this.identity, () =>
        this.#redis.scanBuffer(cursor, 'MATCH', pattern, 'COUNT', bounds.jobs),
      )
      const entries = await reaching(this.identity, () => this.#entries(keys))
      for (let first = 0; first < entries.length;) {
        const sizes = entries.slice(first).map(({ bytes }) => bytes)
        const some = entries.slice(first, first + countIn(sizes, bounds.bytes))
        first += some.length
        const results = await reaching(this.identity, () =>
          Promise.all(some.map((entry) => this.#recordOf(entry))),
        )
        // Keys scanned with this page come again if the run ends before all are stored.
        yield pageOf(
          results.flatMap((result) => result ?? []),
          cursor,
        )
      }
      cursor = next.toString()
    } while (cursor !== '0')
  }

  remove(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      const keys = records.flatMap(({ sourceKey }) => sourceKey ?? [])
      if (keys.length === 0) return
      const transaction = this.#redis.multi().unlink(...keys)
      this.#note.write(transaction, records)
      await repliesTo(transaction)
    })
  }

  lastRemoved(): Promise<readonly Buffer[]> {
    return reaching(this.identity, () => this.#note.read())
  }

  forgetRemoved(): Promise<void> {
    return reaching(this.identity, () => this.#note.drop())
  }

  /** In the form of 1.1.20. */
  restore(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      const transaction = this.#redis.multi()
      for (const record of records) {
        const { unique = Buffer.alloc(0), payload } = record
        const key = Buffer.concat([this.#start, Buffer.from(`${nameOf(record)}-`), unique])
        transaction.hset(key, 'data', payload, 'priority', priorityOf(record))
      }
      await repliesTo(transaction)
    })
  }

  close(): Promise<void> {
    this.#redis.disconnect()
    return Promise.resolve()
  }

  /** Keys of the two types that gearmand writes, with the sizes of their data. */
  async #entries(keys: readonly Buffer[]): Promise<readonly Entry[]> {
    const types = await Promise.all(keys.map((key) => this.#redis.type(key)))
    const found = keys.flatMap((key, at) => {
      const type = types[at]
      return type === 'hash' || type === 'string' ? [{ key, isHash: type === 'hash' }] : []
    })
    const sizes = await Promise.all(
      found.map(({ key, isHash }) =>
        isHash ? this.#redis.hstrlen(key, 'data') : this.#redis.strlen(key),
      ),
    )
    return found.map((entry, at) => ({ ...entry, bytes: sizes[at] ?? 0 }))
  }

  /** Undefined if the key is gone. */
  async #recordOf({ key, isHash }: Entry): Promise<JobRecord | Reject | undefined> {
    const fields = isHash
      ? await this.#redis.hmgetBuffer(key, 'data', 'priority', 'function', 'unique')
      : [await this.#redis.getBuffer(key), null, null, null]
    const [data, priority, fn, unique] = fields
    if (!data && !priority) return undefined
    const where = `key ${key.toString()}`
    const name = fn
      ? { fn, unique: unique ?? Buffer.alloc(0) }
      : splitKey(key.subarray(this.#start.length), this.#functions)
    if (!name) return ambiguous(where, data ?? undefined)
    const row = {
      ...name,
      priority: priority ? Number(priority.toString()) : undefined,
      data,
      whenToRun: undefined,
      sourceKey: key,
      where: () => where,
    }
    return recordOfRow(row, this.identity, Date.now())
  }
}
