import { createHash } from 'node:crypto'
import { FwpError, type FwpJob, parseCustom, parseJobText } from '@crossgear/fwp-codec'
import { closest } from './unknown-variables.ts'
import { checkJobtype } from '../doors/faktory/lanes.ts'
import { Schedule } from './schedule.ts'

/** Why an entry is invalid: the field, and its fault. */
export class CronEntryError extends Error {
  override readonly name = 'CronEntryError'
}

/** A job and the times to push it. */
export interface CronEntry {
  readonly name: string
  /** Five fields of cron, six with leading seconds, or a nickname such as `@daily`. */
  readonly schedule: string
  /** IANA name. UTC. */
  readonly timezone: string
  /** As given. */
  readonly job: Readonly<Record<string, unknown>>
  /** The job to push, with this jid. */
  jobOf(jid: string): FwpJob
  /**
   * The first tick after a time, milliseconds since 1970; undefined for a schedule that is over.
   */
  nextAfter(ms: number): number | undefined
}

const entryFields = new Set(['name', 'schedule', 'timezone', 'job'])
const maxNameBytes = 255
const sampleJid = 'sample-jid'

/**
 * Parses `{ name, schedule, timezone, job: { type, args, queue, ... } }`. Throws a CronEntryError.
 */
export function readCronEntry(value: unknown): CronEntry {
  const fields = tableOf(value, 'a cron entry')
  for (const field of Object.keys(fields)) {
    if (!entryFields.has(field)) {
      const advice = closest(field, [...entryFields]) ?? [...entryFields].join(', ')
      throw new CronEntryError(`${field} is unknown: use ${advice}`)
    }
  }
  const { type, jobtype = type, ...rest } = tableOf(fields['job'], 'job')
  const job = { args: [], ...rest, jobtype }
  const jobOf = (jid: string): FwpJob => parseJobText(JSON.stringify({ ...job, jid }))
  const { custom, at } = sampleOf(jobOf)
  if (at !== undefined) throw new CronEntryError('job.at is not for cron: the schedule says when')
  if (custom !== undefined) checked(() => parseCustom(custom))
  const schedule = textOf(fields['schedule'], 'schedule')
  const timezone = textOf(fields['timezone'] ?? 'UTC', 'timezone')
  const name = textOf(fields['name'] ?? nameOf(jobtype, [schedule, timezone, job]), 'name')
  const times = timesOf(schedule, timezone)
  return {
    name,
    schedule,
    timezone,
    jobOf,
    job: { type: jobtype, ...rest },
    nextAfter: (ms) => times.nextAfter(ms),
  }
}

/** An entry as it was given, without functions. */
export function plainEntry({ name, schedule, timezone, job }: CronEntry) {
  return { name, schedule, timezone, job }
}

function timesOf(schedule: string, timezone: string): Schedule {
  try {
    const times = new Schedule(schedule, timezone)
    // A schedule that is over was valid once, and does not keep a gateway from starting.
    if (times.nextAfter(0) !== undefined) return times
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
    throw new CronEntryError(`schedule ${JSON.stringify(schedule)} in ${timezone}: ${reason}`, {
      cause: error,
    })
  }
  throw new CronEntryError(`schedule ${JSON.stringify(schedule)} never comes`)
}

function sampleOf(jobOf: (jid: string) => FwpJob): FwpJob {
  return checked(() => {
    const sample = jobOf(sampleJid)
    checkJobtype(sample.jobtype)
    return sample
  })
}

function checked<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof FwpError)) throw error
    throw new CronEntryError(`job: ${error.message}`, { cause: error })
  }
}

/** The same entry has the same name at every node. */
function nameOf(jobtype: unknown, parts: readonly unknown[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${String(jobtype)}-${digest.slice(0, 8)}`
}

function textOf(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= maxNameBytes) {
    return value
  }
  throw new CronEntryError(`${field} must be a text of 1 to ${maxNameBytes} bytes`)
}

function tableOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CronEntryError(`${what} must be a table`)
  }
  return value as Readonly<Record<string, unknown>>
}
