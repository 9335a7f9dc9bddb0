import {
  holderOf,
  nativeDoor,
  defaultLevel,
  type Job,
  type JobRef,
  type JobState,
  type LookExtra,
  type NewJob,
  type Lease,
} from '@crossgear/core-scheduler'
import { dependencyFields, FieldReader, shortFields, type Draft } from './job-fields.ts'
import type { OnForeignField } from '../connection/foreign-field.ts'
import type { ScriptArgument } from '../scripts/script-name.ts'

/** Adds the fields of a job's hash that the GearMonkey spec does not have, as pairs for HSET. */
export function addFields(args: ScriptArgument[], job: NewJob): void {
  args.push('input', job.input, 'door', job.door)
  addFurtherFields(args, job)
}

/** The same without the fields of every job. A step takes the unique id and the jid from the first ones. */
export function addFurtherFields(args: ScriptArgument[], job: NewJob): void {
  if (job.unique) args.push('unique', job.unique)
  if (job.jid !== undefined) args.push('jid', job.jid)
  if (job.level !== 5) args.push('level', String(job.level))
  if (job.reducer) args.push('reducer', job.reducer)
  if (job.envelope !== undefined) args.push('envelope', job.envelope)
  if (job.failure !== undefined) args.push('failure', job.failure)
  if (job.retries !== undefined) args.push('retries', String(job.retries))
  if (job.backoff !== undefined) args.push('backoff', job.backoff)
  if (job.reserveForSeconds !== undefined) args.push('reserve_for', String(job.reserveForSeconds))
  if (job.retentionSeconds) args.push('keep', String(job.retentionSeconds))
  if (job.isTimed) args.push('timed', '1')
  if (job.staleAtMs !== undefined) args.push('stale', String(job.staleAtMs))
  if (job.diesStale) args.push('dies_stale', '1')
  if (job.lock) args.push('once', job.lock.key)
  if (job.lock?.until === 'start') args.push('once_until', 'start')
  if (job.batch !== undefined) args.push('bid', job.batch)
  if (job.trace !== undefined) args.push('trace', job.trace)
  if (job.turn !== undefined) args.push('turn', job.turn)
  if (job.origin !== undefined) args.push('origin', job.origin)
  if (job.onDeath !== undefined) args.push('on_death', job.onDeath)
  if (job.arrivedAtMs !== undefined) args.push('arrived', String(job.arrivedAtMs))
  if (job.moved !== undefined) args.push('moved', job.moved)
}

const empty = Buffer.alloc(0)
const ignored: OnForeignField = () => undefined

/** Fields that a look reads first: the output follows if the job has ended. */
export function lookedAtFields(extras: readonly LookExtra[]): readonly string[] {
  return extras.includes('envelope') ? [...shortFields, 'envelope'] : shortFields
}

/** A job from the values of such fields; undefined if the hash has no `status`. */
export function stateOf(
  lane: string,
  id: number,
  names: readonly string[],
  values: readonly (Buffer | null)[],
  onForeign: OnForeignField = ignored,
): JobState | undefined {
  const reader = new FieldReader(emptyDraft(lane, id), onForeign)
  for (const [at, name] of names.entries()) {
    const value = values[at]
    if (value) reader.add(name, value)
  }
  return reader.end() as JobState | undefined
}

/** A job from the field-value pairs of its hash; undefined if the hash has no `status`. */
export function jobOf(
  lane: string,
  id: number,
  pairs: readonly Buffer[],
  onForeign: OnForeignField = ignored,
): Job | undefined {
  return fill({ ...emptyDraft(lane, id), input: empty }, pairs, onForeign) as Job | undefined
}

function emptyDraft(lane: string, id: number): Draft {
  return {
    lane,
    id,
    door: nativeDoor,
    level: defaultLevel,
    losses: 0,
    settled: false,
    foreground: false,
    waiting: 0,
  }
}

/** All fields from the start, so that the engine sees one shape: a lease is read in 2 us, 13 without. */
function leaseDraft(lane: string, id: number): Draft {
  return {
    lane,
    id,
    token: undefined,
    status: undefined,
    door: nativeDoor,
    level: defaultLevel,
    losses: 0,
    settled: false,
    foreground: false,
    waiting: 0,
    input: empty,
    enqueuedAtMs: undefined,
    arrivedAtMs: undefined,
    heldBy: undefined,
    waitedMs: undefined,
    hasDependencies: false,
    unique: undefined,
    reducer: undefined,
    jid: undefined,
    batch: undefined,
    envelope: undefined,
    retries: undefined,
    backoff: undefined,
    reserveForSeconds: undefined,
    isTimed: undefined,
    retentionSeconds: undefined,
    trace: undefined,
  }
}

/** Reads the pairs of a hash. `outOfLine`: values that stand outside the list, false in their place. */
function fill(
  job: Draft,
  pairs: readonly (Buffer | false)[],
  onForeign: OnForeignField,
  outOfLine?: Iterator<Buffer>,
): Draft | undefined {
  const reader = new FieldReader(job, onForeign)
  const nextOutside = (): Buffer | undefined => outOfLine?.next().value as Buffer | undefined
  for (let at = 1; at < pairs.length; at += 2) {
    const name = pairs[at - 1] || nextOutside()
    const value = pairs[at] || nextOutside()
    if (!name || !value) continue
    const field = name.toString('latin1')
    reader.add(field, value)
    if (job.hasDependencies === false && dependencyFields.has(field)) job.hasDependencies = true
  }
  return reader.end()
}

/**
 * A job in a claim's reply: id, token, and fields and values of its hash, false where a value
 * stands outside the list.
 */
type StoredReply = readonly [id: Buffer, token: Buffer, stored: (Buffer | false)[]]
/**
 * A claim's reply, flat: lane, then a job, or for jobs kept here the id, token and `enqueued` of
 * each in one string.
 */
export type LeasedReply = readonly (Buffer | StoredReply)[]

/** Jobs that this node has. */
export interface KnownJobs {
  /** The job, if it is the one that the store means. */
  readonly get: (lane: string, id: number, enqueued: string) => NewJob | undefined
}

/** A lease of a job that should be kept here and is not. */
export interface Missing {
  readonly missing: JobRef & { readonly token: string }
}

/**
 * Leases from a script's reply. `outOfLine`: long values that stand outside of it. `nowMs`: the store's
 * clock, for the time in the queue. `kept`: jobs that the reply does not repeat.
 */
export function leasesOf(
  reply: LeasedReply,
  outOfLine: Iterator<Buffer>,
  nowMs: number,
  kept: KnownJobs,
  onForeign: OnForeignField = ignored,
): (Lease | Missing)[] {
  const found: (Lease | Missing)[] = []
  for (let at = 0; at + 1 < reply.length; at += 2) {
    const lane = String(reply[at])
    const jobs = reply[at + 1] as Buffer | StoredReply
    if (Buffer.isBuffer(jobs)) addKept(found, lane, jobs.toString('latin1').split(' '), nowMs, kept)
    else found.push(storedLease(lane, jobs, outOfLine, nowMs, onForeign))
  }
  return found
}

/** `words`: id, token and `enqueued` of each job. */
function addKept(
  found: (Lease | Missing)[],
  lane: string,
  words: readonly string[],
  nowMs: number,
  kept: KnownJobs,
): void {
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [id, token = '', enqueued = ''] = [Number(words[at]), words[at + 1], words[at + 2]]
    const job = kept.get(lane, id, enqueued)
    const ref = { lane, id, token }
    found.push(job ? leaseOf(ref, job, Number(enqueued), nowMs) : { missing: ref })
  }
}

function storedLease(
  lane: string,
  [id, token, fields]: StoredReply,
  outOfLine: Iterator<Buffer>,
  nowMs: number,
  onForeign: OnForeignField,
): Lease {
  const job = fill(leaseDraft(lane, Number(id.toString('latin1'))), fields, onForeign, outOfLine)
  if (!job) throw new Error(`job ${String(id)} of ${lane} has no status`)
  job.token = token.toString('latin1')
  job.heldBy = holderOf(job.token)
  if (job.enqueuedAtMs !== undefined) job.waitedMs = Math.max(0, nowMs - job.enqueuedAtMs)
  return job as Lease
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** The lease of a job that this node submitted itself. */
function leaseOf(
  { lane, id, token }: JobRef & { readonly token: string },
  job: NewJob,
  enqueuedAtMs: number,
  nowMs: number,
): Lease {
  const { unique, reducer } = job
  const lease = leaseDraft(lane, id)
  lease.token = token
  lease.status = 'idle'
  lease.door = job.door
  lease.level = job.level
  lease.foreground = job.foreground
  lease.waiting = job.foreground ? 1 : 0
  lease.input = bufferOf(job.input)
  lease.enqueuedAtMs = enqueuedAtMs
  lease.heldBy = holderOf(token)
  lease.waitedMs = Math.max(0, nowMs - enqueuedAtMs)
  lease.hasDependencies = job.lock !== undefined || job.batch !== undefined
  if (unique && unique.length > 0) lease.unique = bufferOf(unique)
  if (reducer && reducer.length > 0) lease.reducer = bufferOf(reducer)
  if (job.jid !== undefined) lease.jid = job.jid
  if (job.envelope !== undefined) lease.envelope = job.envelope
  if (job.failure !== undefined) lease.failure = job.failure
  if (job.retries !== undefined) lease.retries = job.retries
  if (job.backoff !== undefined) lease.backoff = job.backoff
  if (job.reserveForSeconds !== undefined) lease.reserveForSeconds = job.reserveForSeconds
  if (job.retentionSeconds) lease.retentionSeconds = job.retentionSeconds
  if (job.trace !== undefined) lease.trace = job.trace
  return lease as Lease
}
