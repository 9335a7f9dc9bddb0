import { isUtf8 } from 'node:buffer'
import type { Level } from '@crossgear/core-scheduler'
import { rejectOf } from '../../record/fit.ts'
import { importIdOf } from '../../record/identity.ts'
import type { JobRecord, Mutable, Reject } from '../../record/record.ts'

/** A job in gearmand's queues. Bytes stay bytes; absent values are null or undefined. */
export interface GearmandRow {
  readonly fn: Uint8Array | null | undefined
  readonly unique: Uint8Array | null | undefined
  /** 0 high, 1 normal, 2 low. */
  readonly priority: number | null | undefined
  /** Empty data may be NULL. */
  readonly data: Uint8Array | null | undefined
  /** Seconds since 1970; 0 or absent: now. */
  readonly whenToRun: number | null | undefined
  /** By what its source finds it again. */
  readonly sourceKey?: Buffer
  /** The place of the row, for a person. */
  readonly where: () => string
}

/** gearmand's priorities as levels. */
const levels: readonly Level[] = [8, 5, 2]
const empty = Buffer.alloc(0)

/** The record of a row, or its reject. */
export function recordOfRow(row: GearmandRow, identity: string, nowMs: number): JobRecord | Reject {
  const [priority, whenToRun] = [row.priority ?? 1, row.whenToRun ?? 0]
  const fn = bytesOf(row.fn)
  // gearmand keeps 63 of 64 bytes of a unique id, and a NUL.
  const unique = withoutNul(bytesOf(row.unique))
  const payload = bytesOf(row.data)
  const level = levels[priority]
  if (fn.length === 0) return reject(row, 'it names no function')
  if (!isUtf8(fn)) return reject(row, "the function's name is no UTF-8")
  if (level === undefined) return reject(row, `priority is ${priority}, not 0, 1 or 2`)
  if (!Number.isSafeInteger(whenToRun)) return reject(row, 'when_to_run is no time')
  const dueAtMs = whenToRun * 1000
  const isScheduled = dueAtMs > nowMs
  const record: Mutable<JobRecord> = {
    importId: importIdOf(identity, fn, unique, payload, String(whenToRun)),
    state: isScheduled ? 'scheduled' : 'queued',
    door: 'gearman',
    fn: fn.toString(),
    level,
    payload,
  }
  if (unique.length > 0) record.unique = unique
  if (isScheduled) record.dueAtMs = dueAtMs
  if (row.sourceKey) record.sourceKey = row.sourceKey
  return record
}

function reject(row: GearmandRow, message: string): Reject {
  const where = row.where()
  return rejectOf('bad_row', where, `${where}: ${message}`, row.data ?? undefined)
}

function bytesOf(value: Uint8Array | null | undefined): Buffer {
  if (!value) return empty
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.length)
}

function withoutNul(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}
