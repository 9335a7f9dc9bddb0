import { FwpError } from '../errors.ts'
import { decodeString, type RawField, scanElements, scanFields } from './json-scan.ts'
import { readArray, readInteger, readObject, readString } from './raw-values.ts'
import { cutBytes, decodeText, detach, exceedsBytes, withWholeCharacters } from '../text.ts'
import { parseRfc3339 } from './timestamp.ts'

/** 1 is the lowest, 9 the highest. */
export type FwpPriority = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9

/**
 * A work unit as its producer sent it: the fields needed to place it, and the raw text of the rest.
 * A field that was missing or null is undefined.
 */
export interface FwpJob {
  /** 8 to 255 bytes. */
  readonly jid: string
  /** 1 to 255 bytes. */
  readonly jobtype: string
  /** The raw text of a JSON array. */
  readonly args: string
  /** `default` if the job names none; at most 255 bytes of `[a-zA-Z0-9._-]`. */
  readonly queue: string
  /** 5 if the job names none. */
  readonly priority: FwpPriority
  /** Seconds, at most 86400; may be less than the 60 that a server grants, or negative. */
  readonly reserveForSeconds?: number
  /** The timestamp as written. */
  readonly at?: string
  /** `at` in Unix milliseconds. */
  readonly atMs?: number
  readonly retry?: number
  /** Lines of a failure's backtrace to keep. */
  readonly backtrace?: number
  /** The timestamp as written, unchecked. */
  readonly createdAt?: string
  /** The raw text of a JSON object. */
  readonly custom?: string
  /** Failures before the push, the raw text of a JSON object. */
  readonly failure?: string
  /** Every field but `args`, in order, as written. */
  readonly fields: readonly RawField[]
}

/** One job of a PUSHB: accepted, or refused with the reply's text for its jid. */
export type ParsedJob =
  | { readonly state: 'parsed'; readonly job: FwpJob }
  | {
      readonly state: 'rejected'
      /** Empty if the job has no readable jid. */
      readonly jid: string
      readonly error: FwpError
    }

/** Default of the most jobs in one PUSHB. */
export const defaultMaxJobs = 100_000

const minJidBytes = 8
const maxNameBytes = 255
const maxReserveForSeconds = 86_400
const defaultPriority = 5

const knownNames: ReadonlySet<string> = new Set([
  'jid',
  'jobtype',
  'queue',
  'args',
  'custom',
  'failure',
  'at',
  'created_at',
  'enqueued_at',
  'retry',
  'backtrace',
  'reserve_for',
  'priority',
])

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

/** A job while its fields are read, before the checks. */
type Draft = Mutable<Partial<Omit<FwpJob, 'priority' | 'fields'>>> & {
  rawPriority?: string
  readonly fields: RawField[]
}

/**
 * Parses the argument of `PUSH {job}`. Throws `INVALID_JSON`, then in this order `INVALID_JID`,
 * `INVALID_JOBTYPE`, `MISSING_ARGS`, `INVALID_RESERVE_FOR`, `INVALID_AT`, `INVALID_QUEUE`.
 */
export function parseJob(argument: Buffer): FwpJob {
  return parseJobText(withWholeCharacters(decodeText(argument)))
}

/** `parseJob` for a job that is already text. */
export function parseJobText(text: string): FwpJob {
  return checkJob(readFields(scanFields(text), text))
}

/**
 * Parses the argument of `PUSHB [job, ...]`, each job by itself, in order. Throws `INVALID_JSON` if
 * the whole is not a JSON array, and `TOO_MANY_JOBS` above `maxJobs` (default 100000).
 */
export function parseJobs(
  argument: Buffer,
  options: { readonly maxJobs?: number } = {},
): ParsedJob[] {
  return [...scanJobs(argument, options)].map(parseListedJob)
}

/**
 * Splits a list of jobs: the raw text of one job after the other, for `parseListedJob`. Throws as `parseJobs` does; until the
 * end is reached, that may still come.
 */
export function* scanJobs(
  argument: Buffer,
  options: { readonly maxJobs?: number } = {},
): Generator<string, void> {
  const maxJobs = options.maxJobs ?? defaultMaxJobs
  let jobs = 0
  // Each may nest as deep as one pushed alone.
  for (const text of scanElements(withWholeCharacters(decodeText(argument, '[]')), true)) {
    jobs += 1
    if (jobs > maxJobs) {
      throw new FwpError('TOO_MANY_JOBS', `too many jobs in one PUSHB: at most ${maxJobs}`)
    }
    yield text
  }
}

/** True for a queue's name: 1 to 255 bytes of `[a-zA-Z0-9._-]`. */
export function isQueueName(name: string): boolean {
  return name.length <= maxNameBytes && /^[a-zA-Z0-9._-]+$/.test(name)
}

/** Parses one job of a PUSHB. */
export function parseListedJob(text: string): ParsedJob {
  let jid = ''
  try {
    const fields = scanFields(text === 'null' ? '{}' : text)
    jid = readableJid(fields)
    return { state: 'parsed', job: checkJob(readFields(fields, text)) }
  } catch (error) {
    if (!(error instanceof FwpError)) throw error
    return { state: 'rejected', jid, error }
  }
}

/** The jid of a job that may still be refused, if it can be read. */
function readableJid(fields: ReadonlyMap<string, RawField>): string {
  let raw = ''
  for (const field of fields.values()) if (field.key.toLowerCase() === 'jid') raw = field.value
  return raw.startsWith('"') ? cutBytes(decodeString(raw), maxNameBytes) : ''
}

function readFields(fields: ReadonlyMap<string, RawField>, text: string): Draft {
  const draft: Draft = { fields: [] }
  for (const written of fields.values()) {
    const field = withKnownName(written)
    if (field.key !== 'args') draft.fields.push(field)
    readField(draft, field.key, field.value, text)
  }
  return draft
}

/** A known field in its own name, which may be written in any case. */
function withKnownName(field: RawField): RawField {
  if (knownNames.has(field.key)) return field
  const key = field.key.toLowerCase()
  return knownNames.has(key) ? { key, rawKey: `"${key}"`, value: field.value } : field
}

function readField(draft: Draft, key: string, raw: string, text: string): void {
  // null means absent for every known field.
  if (raw === 'null') return
  switch (key) {
    case 'jid':
      draft.jid = readName(key, raw, text)
      return
    case 'jobtype':
      draft.jobtype = readName(key, raw, text)
      return
    case 'queue': {
      const queue = readName(key, raw, text)
      if (queue !== '') draft.queue = queue
      return
    }
    case 'args':
      draft.args = withinRange(key, readArray(key, raw) ?? raw)
      return
    case 'custom':
      draft.custom = withinRange(key, readObject(key, raw) ?? raw)
      return
    case 'failure':
      draft.failure = readObject(key, raw) ?? raw
      return
    case 'at': {
      const at = readName(key, raw, text)
      if (at !== '') draft.at = at
      return
    }
    case 'created_at': {
      const createdAt = readName(key, raw, text)
      if (createdAt !== '') draft.createdAt = createdAt
      return
    }
    case 'enqueued_at':
      readString(key, raw)
      return
    case 'retry':
      draft.retry = readInteger(key, raw) ?? 0
      return
    case 'backtrace':
      draft.backtrace = readInteger(key, raw) ?? 0
      return
    case 'reserve_for': {
      const seconds = readInteger(key, raw) ?? 0
      // Some clients write 0 for "the default".
      if (seconds !== 0) draft.reserveForSeconds = seconds
      return
    }
    case 'priority':
      draft.rawPriority = raw
  }
}

/** A number with so many digits or such an exponent may be beyond a double. */
const maybeOutOfRange = /[eE]\+?\d{3}|\d{309}/

/** Workers read numbers as doubles: one that none can hold would make the job unreadable to them. */
function withinRange(key: string, raw: string): string {
  if (!maybeOutOfRange.test(raw)) return raw
  JSON.parse(raw, (_name, value: unknown) => {
    if (value !== Infinity && value !== -Infinity) return value
    throw new FwpError('INVALID_JSON', `invalid JSON: ${key} has a number that is out of range`)
  })
  return raw
}

function readName(key: string, raw: string, text: string): string {
  return detach(readString(key, raw) ?? '', text)
}

function checkJob(draft: Draft): FwpJob {
  const jid = checkJid(draft.jid)
  const jobtype = checkJobtype(draft.jobtype)
  const { args, reserveForSeconds, at, retry, backtrace, createdAt, custom, failure, fields } =
    draft
  if (args === undefined) {
    throw new FwpError('MISSING_ARGS', 'jobs must have an args parameter')
  }
  if (reserveForSeconds !== undefined && reserveForSeconds > maxReserveForSeconds) {
    throw new FwpError('INVALID_RESERVE_FOR', 'jobs cannot be reserved for more than one day')
  }
  const atMs = at === undefined ? undefined : checkAt(at)
  const queue = checkQueue(draft.queue ?? 'default')
  const priority = priorityOf(draft.rawPriority)
  const job: Mutable<FwpJob> = { jid, jobtype, args, queue, priority, fields }
  if (reserveForSeconds !== undefined) job.reserveForSeconds = reserveForSeconds
  if (at !== undefined) job.at = at
  if (atMs !== undefined) job.atMs = atMs
  if (retry !== undefined) job.retry = retry
  if (backtrace !== undefined) job.backtrace = backtrace
  if (createdAt !== undefined) job.createdAt = createdAt
  if (custom !== undefined) job.custom = custom
  if (failure !== undefined) job.failure = failure
  return job
}

function checkJid(jid = ''): string {
  const isShort = jid.length < minJidBytes && Buffer.byteLength(jid) < minJidBytes
  if (isShort || exceedsBytes(jid, maxNameBytes)) {
    throw new FwpError('INVALID_JID', 'jobs must have a reasonable jid parameter')
  }
  return jid
}

function checkJobtype(jobtype = ''): string {
  if (jobtype === '') {
    throw new FwpError('INVALID_JOBTYPE', 'jobs must have a jobtype parameter')
  }
  if (exceedsBytes(jobtype, maxNameBytes)) {
    throw new FwpError('INVALID_JOBTYPE', `jobtype must be at most ${maxNameBytes} bytes`)
  }
  return jobtype
}

function checkAt(at: string): number {
  const ms = parseRfc3339(at)
  if (ms !== undefined) return ms
  const shown = JSON.stringify(cutBytes(at, maxNameBytes))
  const text = `invalid timestamp for 'at': ${shown}: must be RFC 3339 with a time zone`
  throw new FwpError('INVALID_AT', text)
}

function checkQueue(queue: string): string {
  if (isQueueName(queue)) return queue
  const shown = JSON.stringify(cutBytes(queue, maxNameBytes))
  const rule =
    queue.length > maxNameBytes
      ? `must be at most ${maxNameBytes} bytes`
      : 'must match \\A[a-zA-Z0-9._-]+\\z'
  throw new FwpError('INVALID_QUEUE', `cannot get ${shown} queue: queue names ${rule}`)
}

/** Any other value counts as absent: servers without priorities accept it too. */
function priorityOf(raw: string | undefined): FwpPriority {
  const value = raw?.startsWith('"') ? NaN : Number(raw)
  return isPriority(value) ? value : defaultPriority
}

function isPriority(value: number): value is FwpPriority {
  return Number.isInteger(value) && value >= 1 && value <= 9
}
