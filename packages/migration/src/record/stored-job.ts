import { type LaneNames, nativeDoor } from '@crossgear/core-scheduler'
import type { ImportedJob, StandingJob } from '@crossgear/redis-store'
import { digestOf } from './identity.ts'
import type { JobRecord, RecordState } from './record.ts'
import { keyOfUnique, uniqueOfKey } from './unique-key.ts'

const deadForMs = 180 * 24 * 3_600_000

const placeOf: Readonly<Record<RecordState, ImportedJob['place']>> = {
  queued: 'queue',
  scheduled: 'queue',
  working: 'queue',
  retry: 'retry',
  dead: 'dead',
}

type Mutable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

/** The lane for a record. */
export function laneOf({ fn, queue }: JobRecord, names: LaneNames): string {
  return queue === undefined ? names.canonical(fn) : names.lane(fn, queue)
}

/**
 * A record in the store's form. `nowMs`: time of death of a dead job without one. `arrivedUs`: its
 * place in line.
 */
export function importedOf(record: JobRecord, nowMs: number, arrivedUs: number): ImportedJob {
  const { importId, state, door, level, payload, jid } = record
  const place = placeOf[state]
  const job: Mutable<ImportedJob['job']> = { input: payload, level }
  const key = keyOf(record)
  if (key) job.unique = key
  if (state === 'scheduled' || state === 'retry') job.dueAtMs = record.dueAtMs ?? nowMs
  if (record.reducer) job.reducer = record.reducer
  if (jid !== undefined) job.jid = jid
  if (record.envelope !== undefined) job.envelope = record.envelope
  if (record.retries !== undefined) job.retries = record.retries
  if (record.reserveForSeconds !== undefined) job.reserveForSeconds = record.reserveForSeconds
  if (record.retentionSeconds !== undefined) job.retentionSeconds = record.retentionSeconds
  if (record.staleAtMs !== undefined) job.staleAtMs = record.staleAtMs
  const digest = digestOf(payload, level, jid, key)
  const imported: Mutable<ImportedJob> = { importId, digest, place, door, arrivedUs, job }
  if (record.failure !== undefined) imported.failure = record.failure
  if (record.further) imported.further = record.further
  if (place === 'dead') imported.forgetAtMs = record.forgetAtMs ?? nowMs + deadForMs
  return imported
}

/** The digest of a record as stored. */
export function digestOfRecord(record: JobRecord): Buffer {
  return digestOf(record.payload, record.level, record.jid, keyOf(record))
}

function keyOf({ door, unique, payload, importId }: JobRecord): Buffer | undefined {
  return door === nativeDoor ? undefined : keyOfUnique(unique, payload, importId)
}

/** The digest of a stored job. */
export function digestOfStanding({ job }: StandingJob): Buffer {
  return digestOf(job.input, job.level, job.jid, job.unique)
}

/** A stored job as a record under an import id. */
export function recordOfStanding(
  { job, dueAtMs, forgetAtMs, staleAtMs, further, heldFrom }: StandingJob,
  importId: Buffer,
  names: LaneNames,
): JobRecord {
  const { fn, queue } = names.parse(job.lane)
  const unique = uniqueOfKey(job.unique)
  return {
    importId,
    door: job.door,
    fn,
    ...(queue !== names.home(fn) && { queue }),
    level: job.level,
    payload: job.input,
    state: heldFrom ?? stateOf(job, dueAtMs),
    ...(forgetAtMs !== undefined && { forgetAtMs }),
    ...(dueAtMs !== undefined && { dueAtMs }),
    ...(staleAtMs !== undefined && { staleAtMs }),
    ...(further && { further }),
    ...(unique && { unique }),
    ...(job.enqueuedAtMs !== undefined && { enqueuedAtMs: Math.floor(job.enqueuedAtMs) }),
    ...(job.reducer && { reducer: job.reducer }),
    ...(job.jid !== undefined && { jid: job.jid }),
    ...(job.envelope !== undefined && { envelope: job.envelope }),
    ...(job.failure !== undefined && { failure: job.failure }),
    ...(job.retries !== undefined && { retries: job.retries }),
    ...(job.reserveForSeconds !== undefined && { reserveForSeconds: job.reserveForSeconds }),
    ...(job.retentionSeconds !== undefined && { retentionSeconds: job.retentionSeconds }),
  }
}

function stateOf(job: StandingJob['job'], dueAtMs: number | undefined): RecordState {
  if (job.status === 'error') return 'dead'
  if (job.status === 'busy') return 'working'
  if (dueAtMs === undefined) return 'queued'
  return job.failure === undefined ? 'scheduled' : 'retry'
}
