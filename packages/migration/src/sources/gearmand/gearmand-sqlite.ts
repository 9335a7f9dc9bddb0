import { access, rmdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Database, JSValue, SQLiteValue, Statement } from 'node-sqlite3-wasm'
import { MigrationError, reaching } from '../../errors.ts'
import type { JobRecord, Reject } from '../../record/record.ts'
import type { Page, PageBounds, Source } from '../../source.ts'
import { isRecord, recordOfRow } from './gearmand-row.ts'
import { isInWalMode, usersOf, whenFree } from './sqlite-file.ts'
import { rollBack } from './sqlite-journal.ts'
import { columnsOf, hasRunTimes, removedTable, rowOf } from './gearmand-table.ts'

const limits = [
  'Jobs without a unique id replaced each other in this table: gearmand kept the last one.',
  'Foreground jobs are never in it, and neither reducers nor retries are.',
  'Of a unique id of 64 bytes gearmand kept the first 63.',
]

type Row = Readonly<Record<string, SQLiteValue>>

interface Opened {
  readonly path: string
  readonly table: string
  readonly isMoved: boolean
  /** Other processes that have the file open. */
  readonly users: readonly number[]
}

/** The table of `gearmand -q libsqlite3`, in the order in which jobs came. */
export class GearmandSqliteSource implements Source {
  readonly identity: string
  readonly limits = limits
  readonly liveReason?: string
  readonly #db: Database
  readonly #table: string
  readonly #rows: Statement
  /** Files of old servers lack `when_to_run`. */
  readonly #hasTime: boolean
  readonly #isMoved: boolean

  private constructor(db: Database, { path, table, isMoved, users }: Opened) {
    this.#isMoved = isMoved
    this.#db = db
    this.#table = `"${table.replaceAll('"', '""')}"`
    this.identity = `gearmand+sqlite:${path}?table=${table}`
    this.#hasTime = hasRunTimes(this.#columns(table), table, path)
    const time = this.#hasTime ? 'when_to_run' : 'NULL'
    this.#rows = db.prepare(
      `SELECT rowid AS id, CAST(function_name AS BLOB) AS fn, CAST(unique_key AS BLOB) AS uniq,
        priority, CAST(data AS BLOB) AS data, ${time} AS time
        FROM ${this.#table} WHERE rowid > ? ORDER BY rowid LIMIT ?`,
    )
    if (users.length > 0) {
      this.liveReason = `process ${users.join(', ')} has ${path} open, and jobs that run are still in it`
    }
  }

  /** `isMoved`: rows will be removed. */
  static async open(
    file: string,
    { table = 'gearman_queue', isMoved = false } = {},
  ): Promise<GearmandSqliteSource> {
    const path = resolve(file)
    await reaching(path, () => access(path))
    const { default: sqlite } = await import('node-sqlite3-wasm')
    const users = await usersOf(path)
    const isWal = await reaching(path, () => isInWalMode(path))
    if (users.length > 0 && (isMoved || isWal)) {
      const who = `${path} is open in process ${users.join(', ')}`
      const advice = isMoved ? 'stop it before --move' : 'stop it, since its WAL changes meanwhile'
      throw new MigrationError('USAGE', `${who}: ${advice}.`)
    }
    // A killed driver leaves its lock behind; nobody has the file open now.
    if (users.length === 0) {
      await rmdir(`${path}.lock`).catch(() => undefined)
      await reaching(path, () => rollBack(path))
    }
    return whenFree(path, () => {
      const db = new sqlite.Database(path, { fileMustExist: true, readOnly: !isMoved })
      try {
        // The driver shares no memory with others, which WAL needs unless one program has the file for itself.
        if (isWal) db.exec('PRAGMA locking_mode = EXCLUSIVE')
        return new GearmandSqliteSource(db, { path, table, isMoved, users })
      } catch (error) {
        db.close()
        throw error
      }
    })
  }

  total(): Promise<number> {
    return whenFree(this.identity, () => {
      const row = this.#db.get(`SELECT count(*) AS n FROM ${this.#table}`) as Row | null
      return Number(row?.['n'] ?? 0)
    })
  }

  async *pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    for (let last = Number(after ?? -1); ;) {
      const page = await whenFree(this.identity, () =>
        this.#soundly(() => this.#page(last, bounds)),
      )
      if (page.last === undefined) return
      last = page.last
      yield { records: page.records, rejects: page.rejects, cursor: String(last) }
    }
  }

  remove(records: readonly JobRecord[]): Promise<void> {
    return this.#change(() => {
      this.#db.exec(`CREATE TABLE IF NOT EXISTS ${removedTable} (import_id BLOB)`)
      this.#db.exec(`DELETE FROM ${removedTable}`)
      this.#runAll(`DELETE FROM ${this.#table} WHERE rowid = ?`, records, ({ sourceKey }) => [
        Number(sourceKey?.toString()),
      ])
      this.#runAll(`INSERT INTO ${removedTable} VALUES (?)`, records, ({ importId }) => [importId])
    })
  }

  lastRemoved(): Promise<readonly Buffer[]> {
    const named = 'SELECT 1 FROM sqlite_master WHERE name = ?'
    return whenFree(this.identity, () => {
      if (!this.#db.get(named, [removedTable])) return []
      const rows = this.#db.all(`SELECT import_id AS id FROM ${removedTable}`) as Row[]
      return rows.map((row) => Buffer.from(bytesOf(row['id']) ?? []))
    })
  }

  forgetRemoved(): Promise<void> {
    return this.#change(() => this.#db.exec(`DROP TABLE IF EXISTS ${removedTable}`))
  }

  restore(records: readonly JobRecord[]): Promise<void> {
    // Names are bytes here, and text in the table.
    const marks = ['CAST(? AS TEXT)', 'CAST(? AS TEXT)', '?', '?', ...(this.#hasTime ? ['?'] : [])]
    const columns = columnsOf(this.#hasTime).join()
    const sql = `INSERT OR IGNORE INTO ${this.#table} (${columns}) VALUES (${marks.join()})`
    return this.#change(() =>
      this.#runAll(sql, records, (record) => [...rowOf(record, this.#hasTime)]),
    )
  }

  close(): Promise<void> {
    this.#rows.finalize()
    this.#db.close()
    return Promise.resolve()
  }

  #columns(table: string): ReadonlySet<string> {
    const rows = this.#db.all('SELECT name FROM pragma_table_info(?)', [table]) as Row[]
    return new Set(rows.map((row) => String(row['name'])))
  }

  /**
   * Rows after the last one, by `rowid`, which grows with each row. Read one by one until the page
   * is full.
   */
  #page(after: number, { jobs, bytes: most }: PageBounds) {
    const records: JobRecord[] = []
    const rejects: Reject[] = []
    const nowMs = Date.now()
    let last: number | undefined
    let bytes = 0
    for (const row of this.#rows.iterate([after, jobs]) as Iterable<Row>) {
      last = Number(row['id'])
      const result = this.#recordOf(row, nowMs)
      if (isRecord(result)) {
        records.push(result)
        bytes += result.payload.length
      } else rejects.push(result)
      if (bytes >= most) break
    }
    // The driver keeps its file lock until a statement is finished.
    if (bytes >= most) this.#rows.get([after, 0])
    return { records, rejects, last }
  }

  /** Makes the statement fit for its next use: the driver repeats an error with the first use after it. */
  #soundly<Result>(read: () => Result): Result {
    try {
      return read()
    } catch (error) {
      try {
        this.#rows.get([0, 0])
      } catch {
        // It is the same error.
      }
      throw error
    }
  }

  #recordOf(row: Row, nowMs: number): JobRecord | Reject {
    const id = row['id']
    return recordOfRow(
      {
        fn: bytesOf(row['fn']),
        unique: bytesOf(row['uniq']),
        priority: numberOf(row['priority']),
        data: bytesOf(row['data']),
        whenToRun: numberOf(row['time']),
        where: () => `row ${String(id)}`,
        ...(this.#isMoved && { sourceKey: Buffer.from(String(id)) }),
      },
      this.identity,
      nowMs,
    )
  }

  /** Everything in one transaction. */
  #change(act: () => void): Promise<void> {
    return whenFree(this.identity, () => {
      this.#db.exec('BEGIN IMMEDIATE')
      try {
        act()
        this.#db.exec('COMMIT')
      } catch (error) {
        this.#db.exec('ROLLBACK')
        throw error
      }
    })
  }

  /** Runs one statement for each record. */
  #runAll(
    sql: string,
    records: readonly JobRecord[],
    valuesOf: (record: JobRecord) => JSValue[],
  ): void {
    const statement = this.#db.prepare(sql)
    try {
      for (const record of records) statement.run(valuesOf(record))
    } finally {
      statement.finalize()
    }
  }
}

function bytesOf(value: SQLiteValue | undefined): Uint8Array | undefined {
  return value instanceof Uint8Array ? value : undefined
}

/** A value that is no number is a reject. */
function numberOf(value: SQLiteValue | undefined): number | undefined {
  if (value === null || value === undefined) return undefined
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN
}
