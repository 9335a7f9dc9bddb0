import { type LaneNames, nativeDoor } from '@crossgear/core-scheduler'
import type { ImportedJob, StandingJob } from '@crossgear/redis-store'
import { digestOf } from './identity.ts'
import { picked } from '../picked.ts'
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

/** Fields that a record and a stored job have alike. */
const alike = [
  'reducer',
  'jid',
  'envelope',
  'retries',
  'reserveForSeconds',
  'retentionSeconds',
] as const

/** The lane for a record. */
export function laneOf({ fn, queue }: Pick<JobRecord, 'fn' | 'queue'>, names: LaneNames): string {
  return queue === undefined ? names.canonical(fn) : names.lane(fn, queue)
}

/**
 * A record in the store's form. `nowMs`: time of death of a dead job without one. `arrivedUs`: its
 * place in line.
 */
export function importedOf(record: JobRecord, nowMs: number, arrivedUs: number): ImportedJob {
  const { importId, state, door, level, payload, jid } = record
  const place = placeOf[state]
  const key = keyOf(record)
  const isTimed = state === 'scheduled' || state === 'retry'
  return {
    importId,
    digest: digestOf(payload, level, jid, key),
    place,
    door,
    arrivedUs,
    job: {
      input: payload,
      level,
      ...picked(record, [...alike, 'staleAtMs']),
      ...(key && { unique: key }),
      ...(isTimed && { dueAtMs: record.dueAtMs ?? nowMs }),
    },
    ...picked(record, ['failure', 'further']),
    ...(place === 'dead' && { forgetAtMs: record.forgetAtMs ?? nowMs + deadForMs }),
  }
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
  stored: StandingJob,
  importId: Buffer,
  names: LaneNames,
): JobRecord {
  const { job, dueAtMs, heldFrom } = stored
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
    ...picked(stored, ['forgetAtMs', 'dueAtMs', 'staleAtMs', 'further']),
    ...(unique && { unique }),
    ...(job.enqueuedAtMs !== undefined && { enqueuedAtMs: Math.floor(job.enqueuedAtMs) }),
    ...picked(job, [...alike, 'failure']),
  }
}

function stateOf(job: StandingJob['job'], dueAtMs: number | undefined): RecordState {
  if (job.status === 'error') return 'dead'
  if (job.status === 'busy') return 'working'
  if (dueAtMs === undefined) return 'queued'
  return job.failure === undefined ? 'scheduled' : 'retry'
}
