import type { Client } from 'pg'
import { reaching } from '../../errors.ts'
import type { JobRecord } from '../../record/record.ts'
import type { Page, PageBounds, Source } from '../../source.ts'
import { recordOfRow } from './gearmand-row.ts'
import { columnsOf, hasRunTimes, pageOf, removedTable, rowOf } from './gearmand-table.ts'

const limits = [
  'This table keeps no order, and foreground jobs are never in it.',
  'Of a unique id of 64 bytes gearmand kept the first 63.',
]

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
export class GearmandPostgresSource implements Source {
  readonly identity: string
  readonly limits = limits
  readonly liveReason?: string
  readonly #client: Client
  readonly #table: string
  readonly #hasTime: boolean

  private constructor(
    client: Client,
    options: { identity: string; table: string; hasTime: boolean; others: number },
  ) {
    this.#client = client
    this.identity = options.identity
    this.#table = client.escapeIdentifier(options.table)
    this.#hasTime = options.hasTime
    if (options.others > 0) {
      this.liveReason = `${options.others} other connections are open to this database, and jobs that run are still in it`
    }
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
        const others = Number(rows[0]?.n ?? 0)
        return new GearmandPostgresSource(client, { identity, table, hasTime, others })
      } catch (error) {
        await client.end()
        throw error
      }
    })
  }

  total(): Promise<number> {
    return reaching(this.identity, async () => {
      const { rows } = await this.#client.query<{ n: string }>(
        `SELECT count(*) AS n FROM ${this.#table}`,
      )
      return Number(rows[0]?.n ?? 0)
    })
  }

  async *pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    let last = after === undefined ? undefined : (JSON.parse(after) as Cursor)
    for (;;) {
      const first = last
      const end = await reaching(this.identity, () => this.#endOf(first, bounds))
      if (!end) return
      last = end
      yield await reaching(this.identity, () => this.#read(first, end))
    }
  }

  remove(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      const places = records.flatMap(({ sourceKey }) => sourceKey?.toString() ?? [])
      const ids = records.map(({ importId }) => importId)
      await this.#inOneStep(async () => {
        await this.#client.query(`CREATE TABLE IF NOT EXISTS ${removedTable} (import_id BYTEA)`)
        await this.#client.query(`DELETE FROM ${removedTable}`)
        await this.#client.query(`DELETE FROM ${this.#table} WHERE ctid = ANY($1::tid[])`, [places])
        await this.#client.query(`INSERT INTO ${removedTable} SELECT unnest($1::bytea[])`, [ids])
      })
    })
  }

  lastRemoved(): Promise<readonly Buffer[]> {
    return reaching(this.identity, async () => {
      const known = await this.#client.query<{ table: string | null }>(
        `SELECT to_regclass('${removedTable}')::text AS table`,
      )
      if ((known.rows[0]?.table ?? null) === null) return []
      const { rows } = await this.#client.query<{ id: Buffer }>(
        `SELECT import_id AS id FROM ${removedTable}`,
      )
      return rows.map(({ id }) => id)
    })
  }

  forgetRemoved(): Promise<void> {
    return reaching(this.identity, async () => {
      await this.#client.query(`DROP TABLE IF EXISTS ${removedTable}`)
    })
  }

  restore(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      const columns = columnsOf(this.#hasTime)
      const marks = columns.map((_name, at) => `$${at + 1}`)
      const sql = `INSERT INTO ${this.#table} (${columns.join()}) VALUES (${marks.join()}) ON CONFLICT DO NOTHING`
      await this.#inOneStep(async () => {
        for (const record of records) {
          const [unique, name, ...others] = rowOf(record, this.#hasTime)
          await this.#client.query(sql, [unique.toString(), name.toString(), ...others])
        }
      })
    })
  }

  close(): Promise<void> {
    return this.#client.end()
  }

  async #inOneStep(act: () => Promise<void>): Promise<void> {
    await this.#client.query('BEGIN')
    try {
      await act()
      await this.#client.query('COMMIT')
    } catch (error) {
      await this.#client.query('ROLLBACK')
      throw error
    }
  }

  /** The last row of the next page. Names compare as bytes, not by collation. */
  async #endOf(
    after: Cursor | undefined,
    { jobs, bytes: most }: PageBounds,
  ): Promise<Cursor | undefined> {
    const { rows } = await this.#client.query<SizeRow>(
      `SELECT function_name AS fn, unique_key AS uniq, octet_length(data) AS size FROM ${this.#table}
        ${after ? 'WHERE (function_name COLLATE "C", unique_key COLLATE "C") > ($2, $3)' : ''}
        ORDER BY function_name COLLATE "C", unique_key COLLATE "C" LIMIT $1`,
      [jobs, ...(after ?? [])],
    )
    let bytes = 0
    let end = 0
    while (end < rows.length && (end === 0 || bytes < most)) bytes += rows[end++]?.size ?? 0
    const last = rows[end - 1]
    return last && [last.fn, last.uniq]
  }

  async #read(after: Cursor | undefined, end: Cursor): Promise<Page> {
    const time = this.#hasTime ? 'when_to_run' : 'NULL'
    const { rows } = await this.#client.query<DataRow>(
      `SELECT ctid::text AS ctid, convert_to(function_name, getdatabaseencoding()) AS fn,
        convert_to(unique_key, getdatabaseencoding()) AS uniq, priority, data, ${time} AS time
        FROM ${this.#table} WHERE (function_name COLLATE "C", unique_key COLLATE "C") <= ($1, $2)
        ${after ? 'AND (function_name COLLATE "C", unique_key COLLATE "C") > ($3, $4)' : ''}
        ORDER BY function_name COLLATE "C", unique_key COLLATE "C"`,
      [...end, ...(after ?? [])],
    )
    const nowMs = Date.now()
    const results = rows.map(({ ctid, fn, uniq, priority, data, time: whenToRun }) =>
      recordOfRow(
        {
          ...{ fn, unique: uniq, where: () => `row ${fn.toString()} ${uniq.toString()}` },
          priority: priority ?? undefined,
          data: data ?? undefined,
          whenToRun: whenToRun ?? undefined,
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
