import { MigrationError } from '../../errors.ts'
import type { JobRecord } from '../../record/record.ts'

/** Import ids of the last removal, a table next to gearmand's; dropped when a move is done. */
export const removedTable = 'crossgear_removed'

/** Columns that every table of gearmand's has. */
const queueColumns = ['unique_key', 'function_name', 'priority', 'data']
const timeColumn = 'when_to_run'

/**
 * True if a table has run times, by its column names. Throws a MigrationError for a table that is
 * not gearmand's.
 */
export function hasRunTimes(names: ReadonlySet<string>, table: string, place: string): boolean {
  if (names.size === 0) throw new MigrationError('UNREACHABLE', `${place} has no table ${table}.`)
  const missing = queueColumns.filter((name) => !names.has(name))
  if (missing.length === 0) return names.has(timeColumn)
  const what = `table ${table} of ${place} has no column ${missing.join(', ')}`
  throw new MigrationError('UNREACHABLE', `${what}: it is not gearmand's.`)
}

/** Columns filled by {@link rowOf}, in order. */
export function columnsOf(hasTime: boolean): readonly string[] {
  return hasTime ? [...queueColumns, timeColumn] : queueColumns
}

/** A job as a row: unique id, function, priority, data, and due time. */
export function rowOf(
  record: JobRecord,
  hasTime: boolean,
): readonly [unique: Buffer, fn: Buffer, priority: number, data: Buffer, ...due: number[]] {
  const { unique = Buffer.alloc(0), payload, dueAtMs = 0 } = record
  const dueSeconds = hasTime ? [Math.ceil(dueAtMs / 1000)] : []
  return [unique, Buffer.from(nameOf(record)), priorityOf(record), payload, ...dueSeconds]
}

/** The function's name for gearmand; includes the queue if it is not the home queue. */
export function nameOf({ fn, queue }: JobRecord): string {
  return queue === undefined ? fn : `${fn}@${queue}`
}

/** 0 high, 1 normal, 2 low. */
export function priorityOf({ level }: JobRecord): number {
  if (level >= 7) return 0
  return level >= 4 ? 1 : 2
}
