import { setTimeout as delay } from 'node:timers/promises'
import type { Connection, RowDataPacket } from 'mysql2'
import { hasRunTimes } from './gearmand-table.ts'

export interface MysqlAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

type Values = readonly (Buffer | string | number | null)[]

/** A connection and the statements that go over it. */
export interface Session {
  readonly connection: Connection
  rows(sql: string, values?: Values): Promise<readonly RowDataPacket[]>
  /** Runs statements in one transaction. */
  together(act: () => Promise<void>): Promise<void>
  end(): Promise<void>
}

/** gearmand's table: SQL for its parts. */
export interface Table {
  readonly name: string
  readonly engine: string
  /** Names as gearmand's bytes. */
  readonly fn: string
  readonly unique: string
  /** Placeholders that convert such bytes to the columns' types. */
  readonly columnOf: { readonly fn: string; readonly unique: string }
  readonly time: string
  readonly hasTime: boolean
  /** Connections to the database beside this one. */
  readonly others: number
}

/** Time that the server waits for a slow reader, seconds. */
const patienceSeconds = 86_400
const connectTimeoutMs = 10_000
/** Looks at the other connections, 100 ms apart, before they count. */
const looksAtOthers = 10

/** Connects. The driver is loaded here. */
export async function sessionOf(address: MysqlAddress): Promise<Session> {
  const { default: mysql } = await import('mysql2')
  const { host, port, user, password, database } = address
  const connection = mysql.createConnection({
    ...{ host, port, user, password, database },
    ...{ charset: 'utf8mb4', supportBigNumbers: true, connectTimeout: connectTimeoutMs },
  })
  // Errors are reported by the call that meets them.
  connection.on('error', () => undefined)
  const rows = (sql: string, values: Values = []): Promise<readonly RowDataPacket[]> =>
    new Promise((resolve, reject) => {
      connection.query<RowDataPacket[]>(sql, [...values], (error, found) => {
        if (error) reject(error)
        else resolve(found)
      })
    })
  const session: Session = {
    ...{ connection, rows },
    together: async (act) => {
      await rows('START TRANSACTION')
      try {
        await act()
        await rows('COMMIT')
      } catch (error) {
        await rows('ROLLBACK')
        throw error
      }
    },
    end: () => new Promise((resolve) => connection.end(() => resolve())),
  }
  await rows(`SET SESSION net_write_timeout = ${patienceSeconds}`)
  return session
}

/** Other connections to the database. One that is ending is gone a moment later. */
async function othersOf(session: Session): Promise<number> {
  for (let look = 1; ; look += 1) {
    const [clients] = await session.rows(
      `SELECT COUNT(*) AS others FROM information_schema.processlist
        WHERE db = DATABASE() AND id <> CONNECTION_ID()`,
    )
    const others = Number(clients?.['others'] ?? 0)
    if (others === 0 || look === looksAtOthers) return others
    await delay(100)
  }
}

/** Finds a table. Throws a MigrationError if it is not gearmand's. */
export async function describeTable(
  session: Session,
  options: { readonly table: string; readonly charset: string; readonly identity: string },
): Promise<Table> {
  const { table, charset, identity } = options
  const found = await session.rows(
    `SELECT column_name AS name, character_set_name AS charset FROM information_schema.columns
      WHERE table_schema = DATABASE() AND table_name = ?`,
    [table],
  )
  const columns = new Map(
    found.map((row) => [String(row['name']), row['charset'] as string | null]),
  )
  const hasTime = hasRunTimes(new Set(columns.keys()), table, identity)
  const [kind] = await session.rows(
    `SELECT engine AS engine FROM information_schema.tables
      WHERE table_schema = DATABASE() AND table_name = ?`,
    [table],
  )
  const others = await othersOf(session)
  const bytesOf = (column: string): string =>
    columns.get(column) === null ? column : `CAST(CONVERT(${column} USING ${charset}) AS BINARY)`
  const columnOf = (column: string): string => {
    const own = columns.get(column)
    return own ? `CONVERT(CONVERT(? USING ${charset}) USING ${own})` : '?'
  }
  return {
    name: `\`${table.replaceAll('`', '``')}\``,
    engine: String(kind?.['engine']),
    fn: bytesOf('function_name'),
    unique: bytesOf('unique_key'),
    columnOf: { fn: columnOf('function_name'), unique: columnOf('unique_key') },
    time: hasTime ? 'when_to_run' : 'NULL',
    hasTime,
    others,
  }
}
