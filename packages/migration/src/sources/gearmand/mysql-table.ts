import { setTimeout as delay } from 'node:timers/promises'
import type { Connection, RowDataPacket } from 'mysql2'
import type { Others } from '../others.ts'
import { type SqlSession, type SqlTable, transaction } from './gearmand-sql.ts'
import { hasRunTimes, removedTable } from './gearmand-table.ts'

export interface MysqlAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

export interface Session extends SqlSession {
  readonly connection: Connection
  rows(...statement: Parameters<SqlSession['rows']>): Promise<readonly RowDataPacket[]>
}

/** gearmand's table: SQL for its parts. */
export interface Table extends SqlTable {
  readonly engine: string
  /** Names as gearmand's bytes. */
  readonly fn: string
  readonly unique: string
  readonly time: string
  /** Other connections to the database. */
  readonly others: Others
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
    host,
    port,
    user,
    password,
    database,
    charset: 'utf8mb4',
    supportBigNumbers: true,
    connectTimeout: connectTimeoutMs,
  })
  // Errors are reported by the call that meets them.
  connection.on('error', () => undefined)
  const rows: Session['rows'] = async (sql, values = []) => {
    const [found] = await connection.promise().query<RowDataPacket[]>(sql, [...values])
    return found
  }
  const session: Session = {
    connection,
    rows,
    together: (act) => transaction(rows, 'START TRANSACTION', act),
    end: () => new Promise((resolve) => connection.end(() => resolve())),
  }
  await rows(`SET SESSION net_write_timeout = ${patienceSeconds}`)
  return session
}

/** Other connections to the database. One that is ending is gone a moment later. */
async function othersOf(session: Session): Promise<Others> {
  const [privilege] = await session.rows(
    `SELECT CURRENT_USER() AS user, COUNT(*) AS n FROM information_schema.user_privileges
      WHERE privilege_type = 'PROCESS'
      AND grantee = CONCAT("'", REPLACE(CURRENT_USER(), '@', "'@'"), "'")`,
  )
  const unseen = `the user ${String(privilege?.['user'])} does not see the connections of other users (PROCESS)`
  for (let look = 1; ; look += 1) {
    const [clients] = await session.rows(
      `SELECT COUNT(*) AS others FROM information_schema.processlist
        WHERE db = DATABASE() AND id <> CONNECTION_ID()`,
    )
    const count = Number(clients?.['others'] ?? 0)
    if (count === 0 || look === looksAtOthers) {
      return { count, ...(Number(privilege?.['n'] ?? 0) === 0 && { unseen }) }
    }
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
    mark: () => '?',
    nameMarks: [columnOf('unique_key'), columnOf('function_name')],
    noteType: 'BINARY(16)) ENGINE = InnoDB',
    findNote: `SHOW TABLES LIKE '${removedTable}'`,
    insertNew: (into) => `INSERT ${into} ON DUPLICATE KEY UPDATE priority = priority`,
    time: hasTime ? 'when_to_run' : 'NULL',
    hasTime,
    others,
  }
}
