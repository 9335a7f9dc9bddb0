import { reaching } from '../../errors.ts'
import type { JobRecord } from '../../record/record.ts'
import type { Page, PageBounds, Source } from '../../source.ts'
import { type Others, reasonsOf } from '../others.ts'
import { columnsOf, removedTable, rowOf } from './gearmand-table.ts'

export type SqlValue = string | number | null | Uint8Array | readonly string[]

/** A connection to a database, by its own driver. */
export interface SqlSession {
  rows(sql: string, values?: readonly SqlValue[]): Promise<readonly object[]>
  /** Runs statements in one transaction. */
  together(act: () => Promise<void>): Promise<void>
  end(): Promise<void>
}

/** gearmand's table in the SQL of its database. */
export interface SqlTable {
  readonly name: string
  /** Tables of old servers lack `when_to_run`. */
  readonly hasTime: boolean
  /** The mark of a value by its place, from 0. */
  readonly mark: (at: number) => string
  /** The marks of a unique id and a function, which are bytes. */
  readonly nameMarks: readonly [unique: string, fn: string]
  /** Of the note: the type of its column, with what follows the columns. */
  readonly noteType: string
  /** A row if there is a note. */
  readonly findNote: string
  /** `INSERT` with what leaves out rows that are there. */
  readonly insertNew: (into: string) => string
}

const keptOfUnique = 'Of a unique id of 64 bytes gearmand kept the first 63.'

/** gearmand's table in a database. */
export abstract class GearmandSqlSource implements Source {
  readonly identity: string
  readonly limits: readonly string[]
  readonly liveReason?: string
  readonly unseenReason?: string
  protected readonly session: SqlSession
  protected readonly table: SqlTable

  protected constructor(
    session: SqlSession,
    table: SqlTable,
    about: {
      readonly identity: string
      readonly limits: readonly string[]
      readonly others: Others
      /** The others, and what they have open. */
      readonly who: string
    },
  ) {
    this.session = session
    this.table = table
    this.identity = about.identity
    this.limits = [...about.limits, keptOfUnique]
    const who = `${about.who}, and jobs that run are still in it`
    Object.assign(this, reasonsOf(about.others, who))
  }

  abstract pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page>

  /** Deletes the rows of jobs, within a transaction. */
  protected abstract deleteRows(records: readonly JobRecord[]): Promise<void>

  total(): Promise<number> {
    return this.reaching(async () => {
      const [row] = await this.session.rows(`SELECT COUNT(*) AS jobs FROM ${this.table.name}`)
      return Number((row as { readonly jobs: number | string } | undefined)?.jobs ?? 0)
    })
  }

  /** The note and the rows go in one transaction. */
  remove(records: readonly JobRecord[]): Promise<void> {
    const { mark, noteType } = this.table
    const marks = records.map((_record, at) => `(${mark(at)})`)
    return this.reaching(async () => {
      if (records.length === 0) return
      // CREATE TABLE would end a transaction of MySQL.
      await this.session.rows(`CREATE TABLE IF NOT EXISTS ${removedTable} (import_id ${noteType}`)
      await this.session.together(async () => {
        await this.session.rows(`DELETE FROM ${removedTable}`)
        await this.session.rows(
          `INSERT INTO ${removedTable} VALUES ${marks.join()}`,
          records.map(({ importId }) => importId),
        )
        await this.deleteRows(records)
      })
    })
  }

  lastRemoved(): Promise<readonly Buffer[]> {
    return this.reaching(async () => {
      if ((await this.session.rows(this.table.findNote)).length === 0) return []
      const rows = await this.session.rows(`SELECT import_id AS id FROM ${removedTable}`)
      return rows.map((row) => Buffer.from((row as { readonly id: Uint8Array }).id))
    })
  }

  forgetRemoved(): Promise<void> {
    return this.reaching(async () => {
      await this.session.rows(`DROP TABLE IF EXISTS ${removedTable}`)
    })
  }

  restore(records: readonly JobRecord[]): Promise<void> {
    const { name, hasTime, mark, nameMarks, insertNew } = this.table
    const columns = columnsOf(hasTime)
    const marks = columns.map((_column, at) => nameMarks[at] ?? mark(at))
    const insert = insertNew(`INTO ${name} (${columns.join()}) VALUES (${marks.join()})`)
    return this.reaching(() =>
      this.session.together(async () => {
        for (const record of records) await this.session.rows(insert, rowOf(record, hasTime))
      }),
    )
  }

  close(): Promise<void> {
    return this.session.end()
  }

  protected reaching<Result>(act: () => Promise<Result>): Promise<Result> {
    return reaching(this.identity, act)
  }
}

/** Runs statements between `begin` and COMMIT. */
export async function transaction(
  rows: SqlSession['rows'],
  begin: string,
  act: () => Promise<void>,
): Promise<void> {
  await rows(begin)
  try {
    await act()
    await rows('COMMIT')
  } catch (error) {
    await rows('ROLLBACK')
    throw error
  }
}

/** The reason not to read a database that others have open. */
export function othersOpen({ count }: Others): string {
  return `${count} other connections are open to this database`
}
