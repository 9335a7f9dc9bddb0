import type { Client } from 'pg'
import { reaching } from '../../errors.ts'
import type { JobRecord } from '../../record/record.ts'
import { type Page, type PageBounds, pageOf } from '../../source.ts'
import type { Others } from '../others.ts'
import { recordOfRow } from './gearmand-row.ts'
import { GearmandSqlSource, othersOpen, type SqlSession, transaction } from './gearmand-sql.ts'
import { hasRunTimes, removedTable } from './gearmand-table.ts'

const limits = ['This table keeps no order, and foreground jobs are never in it.']

interface SizeRow {
  readonly fn: string
  readonly uniq: string
  readonly size: number | null
}

interface DataRow {
  readonly ctid: string
  readonly fn: Buffer
  readonly uniq: Buffer
  readonly priority: number | null
  readonly data: Buffer | null
  readonly time: number | null
}

/** Keyset: what stands before the next row. */
type Cursor = readonly [fn: string, unique: string]

/** The table of `gearmand -q Postgres`, by function and unique id. */
export class GearmandPostgresSource extends GearmandSqlSource {
  readonly #client: Client

  private constructor(
    client: Client,
    options: { identity: string; table: string; hasTime: boolean; others: Others },
  ) {
    const { identity, table, hasTime, others } = options
    const bytes = (at: number): string => `convert_from($${at}, getdatabaseencoding())`
    const sql = {
      name: client.escapeIdentifier(table),
      hasTime,
      mark: (at: number) => `$${at + 1}`,
      nameMarks: [bytes(1), bytes(2)] as const,
      noteType: 'BYTEA)',
      findNote: `SELECT 1 WHERE to_regclass('${removedTable}') IS NOT NULL`,
      insertNew: (into: string) => `INSERT ${into} ON CONFLICT DO NOTHING`,
    }
    super(sessionOf(client), sql, { identity, limits, others, who: othersOpen(others) })
    this.#client = client
  }

  /** `address`: `postgres://user:password@host:port/database`. */
  static async open(
    address: string,
    { identity, table }: { readonly identity: string; readonly table: string },
  ): Promise<GearmandPostgresSource> {
    const { default: pg } = await import('pg')
    return reaching(identity, async () => {
      const client = new pg.Client({ connectionString: address, application_name: 'crossgear' })
      // Errors are reported by the call that meets them.
      client.on('error', () => undefined)
      await client.connect()
      try {
        const hasTime = hasRunTimes(await namesOf(client, table), table, identity)
        const { rows } = await client.query<{ n: string }>(
          `SELECT count(*) AS n FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()`,
        )
        const others = { count: Number(rows[0]?.n ?? 0) }
        return new GearmandPostgresSource(client, { identity, table, hasTime, others })
      } catch (error) {
        await client.end()
        throw error
      }
    })
  }

  async *pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    let last = after === undefined ? undefined : (JSON.parse(after) as Cursor)
    for (;;) {
      const first = last
      const end = await this.reaching(() => this.#endOf(first, bounds))
      if (!end) return
      last = end
      yield await this.reaching(() => this.#read(first, end))
    }
  }

  protected async deleteRows(records: readonly JobRecord[]): Promise<void> {
    const places = records.flatMap(({ sourceKey }) => sourceKey?.toString() ?? [])
    const statement = `DELETE FROM ${this.table.name} WHERE ctid = ANY($1::tid[])`
    await this.session.rows(statement, [places])
  }

  /** The last row of the next page. Names compare as bytes, not by collation. */
  async #endOf(
    after: Cursor | undefined,
    { jobs, bytes: max }: PageBounds,
  ): Promise<Cursor | undefined> {
    const { rows } = await this.#client.query<SizeRow>(
      `SELECT function_name AS fn, unique_key AS uniq, octet_length(data) AS size FROM ${this.table.name}
        ${after ? 'WHERE (function_name COLLATE "C", unique_key COLLATE "C") > ($2, $3)' : ''}
        ORDER BY function_name COLLATE "C", unique_key COLLATE "C" LIMIT $1`,
      [jobs, ...(after ?? [])],
    )
    let bytes = 0
    let end = 0
    while (end < rows.length && (end === 0 || bytes < max)) bytes += rows[end++]?.size ?? 0
    const last = rows[end - 1]
    return last && [last.fn, last.uniq]
  }

  async #read(after: Cursor | undefined, end: Cursor): Promise<Page> {
    const time = this.table.hasTime ? 'when_to_run' : 'NULL'
    const { rows } = await this.#client.query<DataRow>(
      `SELECT ctid::text AS ctid, convert_to(function_name, getdatabaseencoding()) AS fn,
        convert_to(unique_key, getdatabaseencoding()) AS uniq, priority, data, ${time} AS time
        FROM ${this.table.name} WHERE (function_name COLLATE "C", unique_key COLLATE "C") <= ($1, $2)
        ${after ? 'AND (function_name COLLATE "C", unique_key COLLATE "C") > ($3, $4)' : ''}
        ORDER BY function_name COLLATE "C", unique_key COLLATE "C"`,
      [...end, ...(after ?? [])],
    )
    const nowMs = Date.now()
    const results = rows.map(({ ctid, fn, uniq, priority, data, time: whenToRun }) =>
      recordOfRow(
        {
          fn,
          unique: uniq,
          where: () => `row ${fn.toString()} ${uniq.toString()}`,
          priority,
          data,
          whenToRun,
          sourceKey: Buffer.from(ctid),
        },
        this.identity,
        nowMs,
      ),
    )
    return pageOf(results, JSON.stringify(end))
  }
}

async function namesOf(client: Client, table: string): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
      WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
    [client.escapeIdentifier(table)],
  )
  return new Set(rows.map(({ name }) => name))
}

function sessionOf(client: Client): SqlSession {
  const rows: SqlSession['rows'] = async (sql, values) => {
    return (await client.query<object>(sql, values && [...values])).rows
  }
  return { rows, together: (act) => transaction(rows, 'BEGIN', act), end: () => client.end() }
}
