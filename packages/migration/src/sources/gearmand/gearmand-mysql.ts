import type { Query, RowDataPacket } from 'mysql2'
import { MigrationError, reaching } from '../../errors.ts'
import type { JobRecord } from '../../record/record.ts'
import type { Page, PageBounds, Source } from '../../source.ts'
import { recordOfRow } from './gearmand-row.ts'
import { columnsOf, pageOf, removedTable, rowOf } from './gearmand-table.ts'
import { describeTable, sessionOf, type Session, type Table } from './mysql-table.ts'

const limits = [
  'This table keeps no order, and foreground jobs are never in it.',
  'Of a unique id of 64 bytes gearmand kept the first 63.',
]

/** Rows buffered by the driver. */
const rowsAhead = 4

export interface GearmandMysqlOptions {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  readonly table: string
  /** gearmand's character set on its connection. */
  readonly charset: string
  readonly identity: string
  readonly isMoved: boolean
}

interface DataRow {
  readonly fn: Buffer | null
  readonly uniq: Buffer | null
  readonly priority: number | null
  readonly data: Buffer | null
  readonly time: number | null
}

/** Names of the last row of a page, in hex. */
type Cursor = readonly [fn: string, unique: string]

/** The table of `gearmand -q MySQL`, by function and unique id as bytes. */
export class GearmandMysqlSource implements Source {
  readonly identity: string
  readonly limits = limits
  readonly liveReason?: string
  readonly #session: Session
  readonly #options: GearmandMysqlOptions
  readonly #table: Table

  private constructor(session: Session, options: GearmandMysqlOptions, table: Table) {
    this.identity = options.identity
    this.#session = session
    this.#options = options
    this.#table = table
    if (table.others > 0) {
      this.liveReason = `${table.others} other connections are open to this database, and jobs that run are still in it`
    }
  }

  static open(options: GearmandMysqlOptions): Promise<GearmandMysqlSource> {
    return reaching(options.identity, async () => {
      const session = await sessionOf(options)
      try {
        const table = await describeTable(session, options)
        if (options.isMoved && table.engine !== 'InnoDB') {
          const why = `the table ${options.table} has the engine ${table.engine}, which lets nobody delete while it is read`
          throw new MigrationError('USAGE', `${why}: copy from it, without --move.`)
        }
        return new GearmandMysqlSource(session, options, table)
      } catch (error) {
        await session.end()
        throw error
      }
    })
  }

  total(): Promise<number> {
    return reaching(this.identity, async () => {
      const [row] = await this.#session.rows(`SELECT COUNT(*) AS jobs FROM ${this.#table.name}`)
      return Number(row?.['jobs'] ?? 0)
    })
  }

  /** One read of everything, while another connection removes. */
  async *pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    const { fn, unique, name, time } = this.#table
    const start = after === undefined ? undefined : (JSON.parse(after) as Cursor)
    const from = start ? `WHERE (IFNULL(${fn}, ''), IFNULL(${unique}, '')) >= (?, ?)` : ''
    const reading = await reaching(this.identity, () => sessionOf(this.#options))
    try {
      const query = reading.connection.query<RowDataPacket[]>(
        `SELECT ${fn} AS fn, ${unique} AS uniq, priority, data, ${time} AS time FROM ${name}
          ${from} ORDER BY IFNULL(${fn}, ''), IFNULL(${unique}, '')`,
        start?.map((hex) => Buffer.from(hex, 'hex')) ?? [],
      )
      yield* this.#read(query, bounds)
    } finally {
      // The rest of the reply is not awaited.
      reading.connection.destroy()
    }
  }

  /** The note and the rows go in one transaction. */
  remove(records: readonly JobRecord[]): Promise<void> {
    const { name, fn, unique, columnOf } = this.#table
    const where = `function_name <=> ${columnOf.fn} AND unique_key <=> ${columnOf.unique}`
    const exactly = `${fn} <=> ? AND ${unique} <=> ?`
    return reaching(this.identity, async () => {
      if (records.length === 0) return
      // CREATE TABLE would end a transaction.
      await this.#session.rows(
        `CREATE TABLE IF NOT EXISTS ${removedTable} (import_id BINARY(16)) ENGINE = InnoDB`,
      )
      await this.#session.together(async () => {
        await this.#session.rows(`DELETE FROM ${removedTable}`)
        await this.#session.rows(
          `INSERT INTO ${removedTable} VALUES ${records.map(() => '(?)').join()}`,
          records.map(({ importId }) => importId),
        )
        for (const { sourceKey } of records) {
          const names = sourceKey ? namesOf(sourceKey) : []
          await this.#session.rows(`DELETE FROM ${name} WHERE ${where} AND ${exactly} LIMIT 1`, [
            ...names,
            ...names,
          ])
        }
      })
    })
  }

  lastRemoved(): Promise<readonly Buffer[]> {
    return reaching(this.identity, async () => {
      const known = await this.#session.rows(`SHOW TABLES LIKE '${removedTable}'`)
      if (known.length === 0) return []
      const rows = await this.#session.rows(`SELECT import_id AS id FROM ${removedTable}`)
      return rows.map((row) => row['id'] as Buffer)
    })
  }

  forgetRemoved(): Promise<void> {
    return reaching(this.identity, async () => {
      await this.#session.rows(`DROP TABLE IF EXISTS ${removedTable}`)
    })
  }

  restore(records: readonly JobRecord[]): Promise<void> {
    const { name, hasTime, columnOf } = this.#table
    const marks = [columnOf.unique, columnOf.fn, '?', '?', ...(hasTime ? ['?'] : [])]
    const insert = `INSERT INTO ${name} (${columnsOf(hasTime).join()}) VALUES (${marks.join()})`
    return reaching(this.identity, () =>
      this.#session.together(async () => {
        for (const record of records) {
          const statement = `${insert} ON DUPLICATE KEY UPDATE priority = priority`
          await this.#session.rows(statement, rowOf(record, hasTime))
        }
      }),
    )
  }

  close(): Promise<void> {
    return this.#session.end()
  }

  async *#read(query: Query, bounds: PageBounds): AsyncGenerator<Page> {
    let rows: DataRow[] = []
    let bytes = 0
    const stream = query.stream({ highWaterMark: rowsAhead })
    const found = (stream as AsyncIterable<DataRow, undefined>)[Symbol.asyncIterator]()
    for (;;) {
      const next = await reaching(this.identity, () => found.next())
      const isOver = next.done === true
      if (!isOver) {
        rows.push(next.value)
        bytes += next.value.data?.length ?? 0
      }
      const isFull = isOver || rows.length >= bounds.jobs || bytes >= bounds.bytes
      if (isFull && rows.length > 0) {
        yield this.#page(rows)
        rows = []
        bytes = 0
      }
      if (isOver) return
    }
  }

  #page(rows: readonly DataRow[]): Page {
    const nowMs = Date.now()
    const results = rows.map(({ fn, uniq, priority, data, time }) =>
      recordOfRow(
        {
          ...{ fn: fn ?? undefined, unique: uniq ?? undefined },
          ...{ priority: priority ?? undefined, data: data ?? undefined },
          whenToRun: time ?? undefined,
          sourceKey: keyOf(fn, uniq),
          where: () => `row ${String(fn)} ${String(uniq)}`,
        },
        this.identity,
        nowMs,
      ),
    )
    const last = rows.at(-1)
    const cursor = [last?.fn, last?.uniq].map((bytes) => bytes?.toString('hex') ?? '')
    return pageOf(results, JSON.stringify(cursor))
  }
}

/** A key made of a row's names. */
function keyOf(...names: readonly (Buffer | null)[]): Buffer {
  return Buffer.from(JSON.stringify(names.map((name) => name?.toString('hex') ?? null)))
}

/** The inverse of {@link keyOf}. */
function namesOf(key: Buffer): readonly (Buffer | null)[] {
  const names = JSON.parse(key.toString()) as (string | null)[]
  return names.map((hex) => (hex === null ? null : Buffer.from(hex, 'hex')))
}
