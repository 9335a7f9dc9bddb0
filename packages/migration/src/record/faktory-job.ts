import { isUtf8 } from 'node:buffer'
import type { Level } from '@crossgear/core-scheduler'
import {
  argsOfInput,
  FwpError,
  inputOfArgs,
  parseCustom,
  parseJob,
  parseRfc3339,
  renderJob,
  withoutAttempts,
  writeEnvelope,
  type FwpJob,
} from '@crossgear/fwp-codec'
import { importIdOf } from './identity.ts'
import { rejectOf } from './fit.ts'
import type { JobPlace, JobRecord, Mutable, Reject } from './record.ts'

const minReserveSeconds = 60

/**
 * A Faktory job, JSON bytes, as a record. `identity`: the source's. Numbers, key order and unknown
 * fields stay. A batch and a lock of the old server have no counterpart here and are left behind.
 */
export function recordOfFaktory(
  raw: Buffer,
  place: JobPlace,
  identity: string,
): JobRecord | Reject {
  try {
    if (!isUtf8(raw)) throw new FwpError('INVALID_JSON', 'it is no UTF-8')
    return toRecord(parseJob(raw), place, identity)
  } catch (error) {
    if (!(error instanceof FwpError)) throw error
    const { where } = place
    return rejectOf('bad_job', where, `a member of ${where} is no job: ${error.message}`, raw)
  }
}

function toRecord(job: FwpJob, place: JobPlace, identity: string): JobRecord {
  const { jid, jobtype, queue, priority, args, retry, reserveForSeconds, createdAt } = job
  const record: Mutable<JobRecord> = {
    // A job that moves between two looks is still the same.
    importId: importIdOf(identity, jid, jobtype, createdAt ?? '', args),
    state: place.state,
    door: 'faktory',
    fn: jobtype,
    queue,
    level: priority satisfies Level,
    payload: inputOfArgs(args),
    jid,
    envelope: writeEnvelope(job),
  }
  if (place.dueAtMs !== undefined) record.dueAtMs = place.dueAtMs
  if (place.forgetAtMs !== undefined) record.forgetAtMs = place.forgetAtMs
  for (const { key, value } of job.fields) {
    if (value === 'null') continue
    if (key === 'failure') record.failure = value
    else if (key === 'enqueued_at' && place.state === 'queued') {
      const enqueuedAtMs = timeOf(value)
      if (enqueuedAtMs !== undefined) record.enqueuedAtMs = enqueuedAtMs
    }
  }
  if (retry !== undefined) record.retries = retry
  if (reserveForSeconds !== undefined) {
    record.reserveForSeconds = Math.max(minReserveSeconds, reserveForSeconds)
  }
  const staleAtMs = job.custom === undefined ? undefined : staleAt(job.custom, place.dueAtMs)
  if (staleAtMs !== undefined) record.staleAtMs = staleAtMs
  return record
}

/**
 * A record's JSON for a Faktory server. A record of another door looks as its workers would see it.
 * `more`: raw JSON by field; overrides the job's.
 */
export function faktoryOfRecord(
  record: JobRecord,
  queue: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const { args, encoding } = argsOfInput(record.payload)
  const shown = new Map(Object.entries(more))
  if (record.failure !== undefined) shown.set('failure', withoutAttempts(record.failure))
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

/** The time in a raw JSON string, milliseconds since 1970. */
function timeOf(raw: string): number | undefined {
  return raw.startsWith('"') ? parseRfc3339(raw.slice(1, -1)) : undefined
}
