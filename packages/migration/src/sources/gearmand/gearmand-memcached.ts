import { setTimeout as delay } from 'node:timers/promises'
import { reaching } from '../../errors.ts'
import { rejectOf } from '../../record/fit.ts'
import { tagOf } from '../../record/identity.ts'
import type { JobRecord, Reject } from '../../record/record.ts'
import { type Page, type PageBounds, pageOf, type Source } from '../../source.ts'
import { ambiguous, splitKey } from './gearmand-key.ts'
import { recordOfRow } from './gearmand-row.ts'
import { nameOf, priorityOf } from './gearmand-table.ts'
import { type Others, reasonsOf } from '../others.ts'
import { DigestSet } from './digest-set.ts'
import { MemcachedConnection, type Item } from './memcached-connection.ts'
import { listKeys, type Listed } from './memcached-listing.ts'

const limits = [
  'memcached forgets what has no room and all when it ends; what it does not list is counted (not_read).',
  'This queue keeps no order and no run times: gearmand refuses EPOCH jobs with it.',
  'A function of a key with several hyphens is known only if --function names it.',
]

/** Keys in one request. */
const keysAtOnce = 100
/** Lists of all keys, while some are missing. */
const listingPasses = 4
/** Looks at the other connections, 100 ms apart, before they count. */
const looksAtOthers = 10

export interface GearmandMemcachedOptions {
  readonly host: string
  readonly port: number
  readonly identity: string
  /** gearmand's `--libmemcached-prefix`. */
  readonly prefix: string
  readonly functions: readonly string[]
}

/** The keys of `gearmand -q libmemcached`. */
export class GearmandMemcachedSource implements Source {
  readonly identity: string
  readonly limits = limits
  readonly liveReason?: string
  readonly unseenReason?: string
  readonly #connection: MemcachedConnection
  readonly #options: GearmandMemcachedOptions
  readonly #prefix: Buffer
  readonly #noteKey: string
  /** Number of each job's last write, by key, for the last page. */
  readonly #cas = new Map<string, string>()

  private constructor(
    connection: MemcachedConnection,
    options: GearmandMemcachedOptions,
    others: Others,
  ) {
    this.#connection = connection
    this.#options = options
    this.identity = options.identity
    this.#prefix = Buffer.from(options.prefix)
    this.#noteKey = `crossgear:removed:${tagOf(options.identity).toString('hex')}`
    const who = `${others.count} other connections are open to this memcached, and jobs that run are still in it`
    Object.assign(this, reasonsOf(others, who))
  }

  static open(options: GearmandMemcachedOptions): Promise<GearmandMemcachedSource> {
    return reaching(options.identity, async () => {
      const connection = await MemcachedConnection.open(options.host, options.port)
      try {
        return new GearmandMemcachedSource(connection, options, await otherClients(connection))
      } catch (error) {
        connection.close()
        throw error
      }
    })
  }

  /**
   * A listing cannot be continued: stored keys are skipped when it is read again. It omits locked items and may repeat one, so
   * keys count once each, and it is read again while some are missing.
   */
  async *pages(_after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    const { identity } = this
    const listed = new DigestSet()
    const kept = await reaching(identity, () => this.#itemsKept())
    for (let pass = 1; pass <= listingPasses && (pass === 1 || listed.size < kept); pass += 1) {
      yield* this.#unlisted(listed, bounds)
    }
    if (listed.size < kept) {
      yield { records: [], rejects: [notListed(kept - listed.size)], cursor: '' }
    }
  }

  /** Pages of what is not in the set so far. */
  async *#unlisted(listed: DigestSet, bounds: PageBounds): AsyncGenerator<Page> {
    const { identity } = this
    const { host, port } = this.#options
    const keys = listKeys(host, port)
    try {
      let some: Listed[] = []
      let bytes = 0
      for (;;) {
        const next = await reaching(identity, () => keys.next())
        const found = next.value
        const isOwn = found?.key.toString('latin1') === this.#noteKey
        const isNew = found !== undefined && !isOwn && listed.add(found.key)
        if (isNew && found.key.subarray(0, this.#prefix.length).equals(this.#prefix)) {
          some.push(found)
          bytes += found.bytes
        }
        const isFull = next.done === true || some.length >= bounds.jobs || bytes >= bounds.bytes
        if (isFull && some.length > 0) {
          const full = some
          yield await reaching(identity, () => this.#read(full))
          some = []
          bytes = 0
        }
        if (next.done === true) break
      }
    } finally {
      await keys.return(undefined)
    }
  }

  /** Items in the server, without the note of removals. */
  async #itemsKept(): Promise<number> {
    const [note] = await this.#connection.items([Buffer.from(this.#noteKey)])
    return (await statistic(this.#connection, 'curr_items')) - (note ? 1 : 0)
  }

  /**
   * Without transactions: jobs about to be removed are noted first, with the number that tells them
   * from later ones.
   */
  async remove(records: readonly JobRecord[]): Promise<void> {
    if (records.length === 0) return
    const keys = records.flatMap(({ sourceKey }) => sourceKey ?? [])
    const notes = records.map(({ importId, sourceKey }) => {
      const key = sourceKey?.toString('latin1') ?? ''
      return `${importId.toString('hex')} ${this.#cas.get(key) ?? ''} ${key}`
    })
    await this.#ask([setOf(this.#noteKey, Buffer.from(notes.join('\n'), 'latin1'))], ['STORED'])
    await this.#ask(
      keys.map((key) => Buffer.concat([Buffer.from('delete '), key, Buffer.from('\r\n')])),
      ['DELETED', 'NOT_FOUND'],
    )
    this.#cas.clear()
  }

  /** Of the noted jobs, those that are gone. */
  lastRemoved(): Promise<readonly Buffer[]> {
    return reaching(this.identity, async () => {
      const [note] = await this.#connection.items([Buffer.from(this.#noteKey)])
      if (!note) return []
      const noted = note.data
        .toString('latin1')
        .split('\n')
        .map((line) => line.split(' '))
      const standing = new Map<string, string>()
      for (let first = 0; first < noted.length; first += keysAtOnce) {
        const keys = noted
          .slice(first, first + keysAtOnce)
          .map(([, , key = '']) => Buffer.from(key, 'latin1'))
        for (const { key, cas } of await this.#connection.items(keys)) {
          standing.set(key.toString('latin1'), cas)
        }
      }
      return noted.flatMap(([importId = '', cas, key = '']) =>
        standing.get(key) === cas ? [] : [Buffer.from(importId, 'hex')],
      )
    })
  }

  forgetRemoved(): Promise<void> {
    return this.#ask([`delete ${this.#noteKey}\r\n`], ['DELETED', 'NOT_FOUND'])
  }

  restore(records: readonly JobRecord[]): Promise<void> {
    const requests = records.map((record) => {
      const { unique = Buffer.alloc(0), payload } = record
      return Buffer.concat([
        Buffer.from('add '),
        this.#prefix,
        Buffer.from(`${nameOf(record)}-`),
        unique,
        Buffer.from(` ${priorityOf(record)} 0 ${payload.length}\r\n`),
        payload,
        Buffer.from('\r\n'),
      ])
    })
    return this.#ask(requests, ['STORED', 'NOT_STORED'])
  }

  close(): Promise<void> {
    this.#connection.close()
    return Promise.resolve()
  }

  /** Requests with one line of answer each. */
  #ask(requests: readonly (Buffer | string)[], expected: readonly string[]): Promise<void> {
    return reaching(this.identity, async () => {
      for (let first = 0; first < requests.length; first += keysAtOnce) {
        const some = requests.slice(first, first + keysAtOnce)
        this.#connection.send(...some)
        const lines: string[] = []
        while (lines.length < some.length) lines.push(await this.#connection.line())
        const wrong = lines.find((line) => !expected.includes(line))
        if (wrong !== undefined) throw new Error(`the server says ${wrong}`)
      }
    })
  }

  async #read(listed: readonly Listed[]): Promise<Page> {
    const items: Item[] = []
    for (let first = 0; first < listed.length; first += keysAtOnce) {
      const keys = listed.slice(first, first + keysAtOnce).map(({ key }) => key)
      items.push(...(await this.#connection.items(keys)))
    }
    const nowMs = Date.now()
    this.#cas.clear()
    for (const { key, cas } of items) this.#cas.set(key.toString('latin1'), cas)
    return pageOf(items.map((item) => this.#recordOf(item, nowMs)))
  }

  #recordOf({ key, flags, data }: Item, nowMs: number): JobRecord | Reject {
    const where = `key ${key.toString()}`
    const name = splitKey(key.subarray(this.#prefix.length), this.#options.functions)
    if (!name) return ambiguous(where, data)
    return recordOfRow(
      {
        ...name,
        priority: flags,
        data,
        whenToRun: undefined,
        sourceKey: key,
        where: () => where,
      },
      this.identity,
      nowMs,
    )
  }
}

/** Kept as long as the server has room. */
function setOf(key: string, data: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`set ${key} 0 0 ${data.length}\r\n`),
    data,
    Buffer.from('\r\n'),
  ])
}

function notListed(items: number): Reject {
  const message = `${items} items are kept and not listed by memcached: some may be jobs, run again`
  return rejectOf('not_read', 'lru_crawler metadump', message)
}

async function statistic(connection: MemcachedConnection, name: string): Promise<number> {
  connection.send('stats\r\n')
  let value = 0
  for await (const line of connection.lines()) {
    if (line.startsWith(`STAT ${name} `)) value = Number(line.slice(`STAT ${name} `.length))
  }
  return value
}

/** Other connections to the server. One that is ending is gone a moment later. */
async function otherClients(connection: MemcachedConnection): Promise<Others> {
  for (let look = 1; ; look += 1) {
    connection.send('stats conns\r\n')
    let clients = 0
    for await (const line of connection.lines()) {
      if (/:state (?!conn_listening|conn_clos)/.test(line)) clients += 1
    }
    // A whole list names at least this connection.
    if (clients === 0) return { count: 0, unseen: 'memcached does not list its connections' }
    if (clients === 1 || look === looksAtOthers) return { count: clients - 1 }
    await delay(100)
  }
}
