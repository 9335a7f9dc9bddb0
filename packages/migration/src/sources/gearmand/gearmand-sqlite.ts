import { constants } from 'node:fs'
import { access, rmdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Database, JSValue, SQLiteValue, Statement } from 'node-sqlite3-wasm'
import { MigrationError, reaching } from '../../errors.ts'
import { isRecord, type JobRecord, type Reject } from '../../record/record.ts'
import type { Page, PageBounds } from '../../source.ts'
import { recordOfRow } from './gearmand-row.ts'
import { GearmandSqlSource, type SqlSession, transaction } from './gearmand-sql.ts'
import { type FileUsers, isInWalMode, usersOf, whenFree } from './sqlite-file.ts'
import { rollBack } from './sqlite-journal.ts'
import { hasRunTimes, removedTable } from './gearmand-table.ts'

const limits = [
  'Jobs without a unique id replaced each other in this table: gearmand kept the last one.',
  'Foreground jobs are never in it, and neither reducers nor retries are.',
]

type Row = Readonly<Record<string, SQLiteValue>>

interface Opened {
  readonly path: string
  readonly table: string
  readonly isMoved: boolean
  readonly users: FileUsers
}

/** The table of `gearmand -q libsqlite3`, in the order in which jobs came. */
export class GearmandSqliteSource extends GearmandSqlSource {
  readonly #rows: Statement
  readonly #isMoved: boolean

  private constructor(db: Database, { path, table, isMoved, users }: Opened) {
    const identity = `gearmand+sqlite:${path}?table=${table}`
    const sql = {
      name: `"${table.replaceAll('"', '""')}"`,
      hasTime: hasRunTimes(columnsIn(db, table), table, path),
      mark: () => '?',
      // Names are bytes here, and text in the table.
      nameMarks: ['CAST(? AS TEXT)', 'CAST(? AS TEXT)'] as const,
      noteType: 'BLOB)',
      findNote: `SELECT 1 FROM sqlite_master WHERE name = '${removedTable}'`,
      insertNew: (into: string) => `INSERT OR IGNORE ${into}`,
    }
    super(sessionOf(db, identity), sql, {
      identity,
      limits,
      others: {
        count: users.pids.length,
        ...(users.unseen !== undefined && { unseen: users.unseen }),
      },
      who: `process ${users.pids.join(', ')} has ${path} open`,
    })
    this.#isMoved = isMoved
    const time = sql.hasTime ? 'when_to_run' : 'NULL'
    this.#rows = db.prepare(
      `SELECT rowid AS id, CAST(function_name AS BLOB) AS fn, CAST(unique_key AS BLOB) AS uniq,
        priority, CAST(data AS BLOB) AS data, ${time} AS time
        FROM ${sql.name} WHERE rowid > ? ORDER BY rowid LIMIT ?`,
    )
  }

  /** `isMoved`: rows will be removed. `isStopped`: the user says that gearmand is. */
  static async open(
    file: string,
    { table = 'gearman_queue', isMoved = false, isStopped = false } = {},
  ): Promise<GearmandSqliteSource> {
    const path = resolve(file)
    await reaching(path, () => access(path))
    await checkFolder(path)
    const { default: sqlite } = await import('node-sqlite3-wasm')
    const users = await usersOf(path)
    const isWal = await reaching(path, () => isInWalMode(path))
    const needsAlone = isMoved || isWal
    if (users.pids.length > 0 && needsAlone) {
      const who = `${path} is open in process ${users.pids.join(', ')}`
      const advice = isMoved ? 'stop it before --move' : 'stop it, since its WAL changes meanwhile'
      throw new MigrationError('USAGE', `${who}: ${advice}.`)
    }
    const isFree = users.pids.length === 0 && (isStopped || users.unseen === undefined)
    if (users.pids.length === 0 && !isFree && needsAlone) {
      const unseen = `It cannot be told whether a program has ${path} open: ${users.unseen ?? ''}`
      throw new MigrationError('USAGE', `${unseen}. Stop gearmand and use --stopped.`)
    }
    // A killed driver leaves its lock behind; nobody has the file open now.
    if (isFree) {
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

  protected async deleteRows(records: readonly JobRecord[]): Promise<void> {
    const ids = records.map(({ sourceKey }) => Number(sourceKey?.toString()))
    const marks = ids.map(() => '?').join()
    await this.session.rows(`DELETE FROM ${this.table.name} WHERE rowid IN (${marks})`, ids)
  }

  override close(): Promise<void> {
    this.#rows.finalize()
    return super.close()
  }

  /**
   * Rows after the last one, by `rowid`, which grows with each row. Read one by one until the page
   * is full.
   */
  #page(after: number, { jobs, bytes: max }: PageBounds) {
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
      if (bytes >= max) break
    }
    // The driver keeps its file lock until a statement is finished.
    if (bytes >= max) this.#rows.get([after, 0])
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
        // The driver repeats the error.
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
}

/** The driver's lock is a folder next to the file. Throws a MigrationError. */
async function checkFolder(path: string): Promise<void> {
  const folder = dirname(path)
  await access(folder, constants.W_OK).catch((error: unknown) => {
    const why = 'which takes a lock next to the file'
    throw new MigrationError(
      'UNREACHABLE',
      `${path} cannot be read, ${why}: its folder is not to be written to. Run this as the user of gearmand, or read a copy of the file.`,
      { cause: error },
    )
  })
}

function columnsIn(db: Database, table: string): ReadonlySet<string> {
  const rows = db.all('SELECT name FROM pragma_table_info(?)', [table]) as Row[]
  return new Set(rows.map((row) => String(row['name'])))
}

function sessionOf(db: Database, identity: string): SqlSession {
  const rows: SqlSession['rows'] = (sql, values = []) =>
    whenFree(identity, () => db.all(sql, [...values] as JSValue[]) as Row[])
  return {
    rows,
    together: (act) => transaction(rows, 'BEGIN IMMEDIATE', act),
    end: () => {
      db.close()
      return Promise.resolve()
    },
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
