import type { LaneNames } from '@crossgear/core-scheduler'
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

/** The lane in which a record is stored. */
export function laneOf({ fn, queue }: JobRecord, names: LaneNames): string {
  return queue === undefined ? names.canonical(fn) : names.lane(fn, queue)
}

/** A record as the store takes it. `nowMs`: when a dead job that does not say is buried. `arrivedUs`: its place. */
export function importedOf(record: JobRecord, nowMs: number, arrivedUs: number): ImportedJob {
  const { importId, state, door, level, payload, reducer, jid, envelope } = record
  const key = door === 'native' ? undefined : keyOfUnique(record.unique, payload, importId)
  const place = placeOf[state]
  const isTimed = state === 'scheduled' || state === 'retry'
  return {
    importId,
    digest: digestOf({ payload, level, ...(jid !== undefined && { jid }), ...(key && { key }) }),
    place,
    door,
    arrivedUs,
    job: {
      input: payload,
      level,
      ...(key && { unique: key }),
      ...(isTimed && { dueAtMs: record.dueAtMs ?? nowMs }),
      ...(reducer && { reducer }),
      ...(jid !== undefined && { jid }),
      ...(envelope !== undefined && { envelope }),
      ...(record.retries !== undefined && { retries: record.retries }),
      ...(record.reserveForSeconds !== undefined && {
        reserveForSeconds: record.reserveForSeconds,
      }),
      ...(record.retentionSeconds !== undefined && { retentionSeconds: record.retentionSeconds }),
      ...(record.staleAtMs !== undefined && { staleAtMs: record.staleAtMs }),
    },
    ...(record.failure !== undefined && { failure: record.failure }),
    ...(place === 'dead' && { forgetAtMs: record.forgetAtMs ?? nowMs + deadForMs }),
  }
}

/** The digest of a job that stands in a store. */
export function digestOfStanding({ job }: StandingJob): Buffer {
  const { input, level, jid, unique } = job
  return digestOf({
    payload: input,
    level,
    ...(jid !== undefined && { jid }),
    ...(unique && { key: unique }),
  })
}

/** A job that stands in a store, as a record under an import id. */
export function recordOfStanding(
  { job, dueAtMs, forgetAtMs, heldFrom }: StandingJob,
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
    ...(unique && { unique }),
    ...(job.enqueuedAtMs !== undefined && { enqueuedAtMs: job.enqueuedAtMs }),
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
