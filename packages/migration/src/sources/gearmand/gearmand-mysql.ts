import type { Query, RowDataPacket } from 'mysql2'
import { MigrationError, reaching } from '../../errors.ts'
import type { JobRecord } from '../../record/record.ts'
import { type Page, type PageBounds, pageOf } from '../../source.ts'
import { recordOfRow } from './gearmand-row.ts'
import { GearmandSqlSource, othersOpen } from './gearmand-sql.ts'
import {
  describeTable,
  type MysqlAddress,
  sessionOf,
  type Session,
  type Table,
} from './mysql-table.ts'

const limits = ['This table keeps no order, and foreground jobs are never in it.']

/** Rows buffered by the driver. */
const bufferedRows = 4

export interface GearmandMysqlOptions extends MysqlAddress {
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
export class GearmandMysqlSource extends GearmandSqlSource {
  readonly #options: GearmandMysqlOptions
  readonly #table: Table

  private constructor(session: Session, options: GearmandMysqlOptions, table: Table) {
    const { identity } = options
    const { others } = table
    super(session, table, { identity, limits, others, who: othersOpen(others) })
    this.#options = options
    this.#table = table
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

  /** One read of everything, while another connection removes. */
  async *pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    const { fn, unique, name, time } = this.#table
    const start = after === undefined ? undefined : (JSON.parse(after) as Cursor)
    const from = start ? `WHERE (IFNULL(${fn}, ''), IFNULL(${unique}, '')) >= (?, ?)` : ''
    const reading = await this.reaching(() => sessionOf(this.#options))
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

  protected async deleteRows(records: readonly JobRecord[]): Promise<void> {
    const { name, fn, unique, nameMarks } = this.#table
    const where = `function_name <=> ${nameMarks[1]} AND unique_key <=> ${nameMarks[0]}`
    const statement = `DELETE FROM ${name} WHERE ${where} AND ${fn} <=> ? AND ${unique} <=> ? LIMIT 1`
    for (const { sourceKey } of records) {
      const names = sourceKey ? namesOf(sourceKey) : []
      await this.session.rows(statement, [...names, ...names])
    }
  }

  async *#read(query: Query, bounds: PageBounds): AsyncGenerator<Page> {
    let rows: DataRow[] = []
    let bytes = 0
    const stream = query.stream({ highWaterMark: bufferedRows })
    const found = (stream as AsyncIterable<DataRow, undefined>)[Symbol.asyncIterator]()
    for (;;) {
      const next = await this.reaching(() => found.next())
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
          fn,
          unique: uniq,
          priority,
          data,
          whenToRun: time,
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
