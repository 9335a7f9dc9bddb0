import { isUtf8 } from 'node:buffer'
import type { Level } from '@crossgear/core-scheduler'
import {
  argsOfInput,
  decodeString,
  formatRfc3339,
  FwpError,
  inputOfArgs,
  scanObject,
} from '@crossgear/fwp-codec'
import { rejectOf } from './fit.ts'
import { importIdOf } from './identity.ts'
import { picked } from '../picked.ts'
import type { JobPlace, JobRecord, Reject, RejectReason } from './record.ts'

/** Members of a JSON object: name to raw value. */
export type RawFields = ReadonlyMap<string, string>

/** Job systems other than Faktory with a class or name, arguments and a queue. */
export type JobSystem = 'sidekiq' | 'resque' | 'bullmq'

/** A job in its system's own form. JSON is raw text, so that numbers do not change. */
export interface QueuedJob {
  readonly system: JobSystem
  /** Distinguishes it from the source's other jobs. */
  readonly parts: readonly string[]
  /** Absent: it gets one. */
  readonly jid?: string
  readonly jobtype: string
  readonly queue: string
  /** JSON array. */
  readonly args: string
  /** Faktory's: 0 discards a failed job, -1 sends it to the dead set. */
  readonly retries: number
  readonly level?: Level
  readonly createdAtMs?: number
  /** Faktory's `failure`, JSON object. */
  readonly failure?: string
  /** The original job, JSON object, with null for its arguments. */
  readonly original: string
}

const minJidBytes = 8

/** The record of such a job. Workers find the original under `custom`, by its system's name. */
export function recordOfQueued(job: QueuedJob, place: JobPlace, identity: string): JobRecord {
  const { jobtype, queue, args, retries, level = 5, createdAtMs } = job
  const importId = importIdOf(identity, ...job.parts)
  const jid =
    job.jid !== undefined && Buffer.byteLength(job.jid) >= minJidBytes
      ? job.jid
      : `${job.system}-${importId.toString('hex')}`
  const fields = [
    ['jid', JSON.stringify(jid)],
    ['queue', JSON.stringify(queue)],
    ['jobtype', JSON.stringify(jobtype)],
    ...(createdAtMs === undefined ? [] : [['created_at', `"${formatRfc3339(createdAtMs)}"`]]),
    ['retry', String(retries)],
    ['custom', `{"${job.system}":${job.original}}`],
  ]
  return {
    importId,
    state: place.state,
    door: 'faktory',
    fn: jobtype,
    queue,
    level,
    payload: inputOfArgs(args),
    jid,
    envelope: `{${fields.map(([name, raw]) => `"${name}":${raw}`).join()}}`,
    retries,
    ...picked(place, ['dueAtMs', 'forgetAtMs']),
    ...(place.state === 'queued' && createdAtMs !== undefined && { enqueuedAtMs: createdAtMs }),
    ...picked(job, ['failure']),
  }
}

/** A record's arguments, a raw JSON array, and the raw fields of its original. */
export function queuedOfRecord(
  { payload, envelope = '{}' }: JobRecord,
  system: JobSystem,
): { readonly args: string; readonly original: RawFields } {
  const custom = scanObject(envelope).get('custom') ?? '{}'
  const original = scanObject(custom).get(system) ?? '{}'
  return { args: argsOfInput(payload).args, original: scanObject(original) }
}

/** A job that stays where it is. */
export interface LeftThere {
  readonly reason: string
}

/**
 * Parses a member of a list or set; bytes that are no job stay there. A text from `read` is the
 * reason.
 */
export function readQueued(
  raw: Buffer,
  where: string,
  read: (fields: RawFields) => JobRecord | LeftThere | string,
): JobRecord | Reject {
  const reject = (reason: RejectReason, fault: string): Reject =>
    rejectOf(reason, where, `a member of ${where} ${fault}`, raw)
  if (!isUtf8(raw)) return reject('bad_job', 'is no job: it is no UTF-8')
  try {
    const result = read(scanObject(raw.toString()))
    if (typeof result === 'string') return reject('bad_job', `is no job: ${result}`)
    return 'importId' in result ? result : reject('not_read', `stays: ${result.reason}`)
  } catch (error) {
    if (error instanceof FwpError) return reject('bad_job', `is no job: ${error.message}`)
    throw error
  }
}

/** The last failure of a job. */
interface LastFailure {
  /** Failed tries after the first. */
  readonly retryCount: number
  readonly retries: number
  readonly failedAtMs: number | undefined
  readonly message: string
  readonly errtype: string
  readonly backtrace?: unknown
}

/** A failure as Faktory's `failure`. */
export function failureText(failure: LastFailure): string {
  const { retryCount, retries, failedAtMs, message, errtype, backtrace } = failure
  return JSON.stringify({
    retry_count: retryCount,
    remaining: Math.max(0, retries - retryCount),
    ...(failedAtMs !== undefined && { failed_at: formatRfc3339(failedAtMs) }),
    message,
    errtype,
    ...(backtrace !== undefined && { backtrace }),
  })
}

/** Class and arguments of a job of Ruby's; a text says what is missing. */
export function classAndArgs(
  fields: RawFields,
): { readonly jobtype: string; readonly args: string } | string {
  const jobtype = textOf(fields.get('class'))
  const args = fields.get('args')
  if (jobtype === undefined) return 'it has no class'
  return isArray(args) ? { jobtype, args } : 'it has no args'
}

/** Fields as a JSON object, some with other values. */
export function objectOf(fields: RawFields, others: Readonly<Record<string, string>> = {}): string {
  const all = new Map([...fields, ...Object.entries(others)])
  return `{${Array.from(all, ([name, raw]) => `${JSON.stringify(name)}:${raw}`).join()}}`
}

/** The text of a raw JSON string; undefined for anything else. */
export function textOf(raw: string | undefined): string | undefined {
  return raw?.startsWith('"') === true ? decodeString(raw) : undefined
}

/** True for a raw JSON array. */
export function isArray(raw: string | undefined): raw is string {
  return raw?.startsWith('[') === true
}
