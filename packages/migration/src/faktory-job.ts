import { isUtf8 } from 'node:buffer'
import { inputOfArgs, type Level } from '@crossgear/core-scheduler'
import {
  FwpError,
  parseCustom,
  parseJob,
  parseRfc3339,
  renderJob,
  writeEnvelope,
  type FwpJob,
} from '@crossgear/fwp-codec'
import { argsOfInput } from '@crossgear/core-scheduler'
import { importIdOf } from './identity.ts'
import { keptRejectBytes } from './fit.ts'
import type { JobRecord, RecordState, Reject } from './record.ts'

const minReserveSeconds = 60

/** Where a job stood, and what that place says of it. */
export interface FaktoryPlace {
  readonly state: RecordState
  readonly dueAtMs?: number
  readonly forgetAtMs?: number
  /** For a person. */
  readonly where: string
}

/**
 * A Faktory job, JSON bytes, as a record. `identity`: of the source. Numbers, key order and unknown fields stay as they
 * are. A batch and a lock of the old server have no counterpart here and are left behind.
 */
export function recordOfFaktory(
  raw: Buffer,
  place: FaktoryPlace,
  identity: string,
): JobRecord | Reject {
  try {
    if (!isUtf8(raw)) throw new FwpError('INVALID_JSON', 'it is no UTF-8')
    return toRecord(parseJob(raw), raw, place, identity)
  } catch (error) {
    if (!(error instanceof FwpError)) throw error
    return {
      reason: 'bad_job',
      message: `a member of ${place.where} is no job: ${error.message}`,
      where: place.where,
      raw: raw.subarray(0, keptRejectBytes),
    }
  }
}

function toRecord(job: FwpJob, raw: Buffer, place: FaktoryPlace, identity: string): JobRecord {
  const { jid, jobtype, queue, priority, args, retry, reserveForSeconds, createdAt } = job
  const field = (name: string): string | undefined => {
    const value = job.fields.find(({ key }) => key === name)?.value
    return value === 'null' ? undefined : value
  }
  const failure = field('failure')
  const enqueuedAtMs = timeOf(field('enqueued_at'))
  const staleAtMs = job.custom === undefined ? undefined : staleAt(job.custom, place.dueAtMs)
  return {
    // A job that moves on between two looks is still the same.
    importId: importIdOf(identity, jid, jobtype, createdAt ?? '', args),
    state: place.state,
    door: 'faktory',
    fn: jobtype,
    queue,
    level: priority satisfies Level,
    payload: inputOfArgs(args),
    jid,
    envelope: writeEnvelope(job),
    sourceKey: raw,
    ...(place.dueAtMs !== undefined && { dueAtMs: place.dueAtMs }),
    ...(place.forgetAtMs !== undefined && { forgetAtMs: place.forgetAtMs }),
    ...(failure !== undefined && { failure }),
    ...(place.state === 'queued' && enqueuedAtMs !== undefined && { enqueuedAtMs }),
    ...(retry !== undefined && { retries: retry }),
    ...(reserveForSeconds !== undefined && {
      reserveForSeconds: Math.max(minReserveSeconds, reserveForSeconds),
    }),
    ...(staleAtMs !== undefined && { staleAtMs }),
  }
}

/**
 * The JSON of a record for a Faktory server. A record of another door is shown as its workers would see it. `more`: raw
 * JSON by field, in the place of what the job says.
 */
export function faktoryOfRecord(
  record: JobRecord,
  queue: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const { args, encoding } = argsOfInput(record.payload)
  const shown = new Map(Object.entries(more))
  if (record.failure !== undefined) shown.set('failure', record.failure)
  if (record.envelope === undefined) {
    shown.set('retry', String(record.retries ?? 0))
    if (encoding !== undefined) shown.set('custom', JSON.stringify({ encoding }))
    shown.set('jid', JSON.stringify(record.jid ?? record.importId.toString('hex')))
    shown.set('queue', JSON.stringify(record.queue ?? queue))
    shown.set('jobtype', JSON.stringify(record.fn))
    shown.set('priority', String(record.level))
  }
  return renderJob(record.envelope ?? '{}', shown, args)
}

function staleAt(custom: string, dueAtMs = Date.now()): number | undefined {
  const { expiresAtMs, expiresInMs } = parseCustom(custom)
  const relative = expiresInMs === undefined ? undefined : dueAtMs + expiresInMs
  if (expiresAtMs === undefined || relative === undefined) return expiresAtMs ?? relative
  return Math.min(expiresAtMs, relative)
}

/** The time that a raw JSON string says, milliseconds since 1970. */
function timeOf(raw: string | undefined): number | undefined {
  return raw?.startsWith('"') === true ? parseRfc3339(raw.slice(1, -1)) : undefined
}
