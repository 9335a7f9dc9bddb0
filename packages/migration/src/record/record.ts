import type { Door, Level } from '@crossgear/core-scheduler'
import type { ImportedJob } from '@crossgear/redis-store'

/** A job's place at its source. A `working` job is queued again, so its run may be repeated. */
export const recordStates = ['queued', 'scheduled', 'retry', 'dead', 'working'] as const
export type RecordState = (typeof recordStates)[number]

/** A job on its way from one system to another. */
export interface JobRecord {
  /** 16 bytes that identify the job and its source; the same at each read. */
  readonly importId: Buffer
  readonly state: RecordState
  /** The protocol by which it entered. */
  readonly door: Door
  readonly fn: string
  /** The Faktory queue of the job; absent: the home queue of its function. */
  readonly queue?: string
  /** Gearman's unique id from the client; empty or absent: none. */
  readonly unique?: Buffer
  readonly level: Level
  readonly payload: Buffer
  /** Due time of a scheduled job or retry, milliseconds since 1970. */
  readonly dueAtMs?: number
  /** When a dead job is dropped, milliseconds since 1970. */
  readonly forgetAtMs?: number
  /** When it was queued, milliseconds since 1970. */
  readonly enqueuedAtMs?: number
  readonly reducer?: Buffer
  readonly jid?: string
  /** The Faktory job without its args, JSON text unchanged. */
  readonly envelope?: string
  /** Faktory's `failure`, JSON text unchanged. */
  readonly failure?: string
  readonly retries?: number
  readonly reserveForSeconds?: number
  readonly retentionSeconds?: number
  /** The job is not run after this time, milliseconds since 1970. */
  readonly staleAtMs?: number
  /** Facts of a job that only a Crossgear store knows. */
  readonly further?: NonNullable<ImportedJob['further']>
  /** For its source to find it again; without meaning elsewhere. */
  readonly sourceKey?: Buffer
}

/** The name of a job, in the target and at its source. */
export type JobName = Pick<JobRecord, 'importId' | 'fn' | 'queue' | 'jid'>

/** The same, while it is being made. */
export type Mutable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

/** A job's place in another system, and that place's data about it. */
export interface JobPlace extends Pick<JobRecord, 'state' | 'dueAtMs' | 'forgetAtMs'> {
  /** For a person. */
  readonly where: string
}

/** Why an item at a source cannot be moved. */
export type RejectReason =
  | 'bad_function'
  | 'bad_queue'
  | 'unique_too_long'
  | 'payload_too_long'
  | 'ambiguous_name'
  | 'bad_job'
  | 'bad_row'
  | 'foreground'
  | 'dead_set_full'
  /** The target's protocol cannot express it. */
  | 'not_carried'
  /** The target refused it. */
  | 'refused'
  /** The job was sent before, and may or may not have arrived. */
  | 'in_doubt'
  | 'not_read'

/** An item that stays at its source. */
export interface Reject {
  readonly reason: RejectReason
  /** One line: the fault. */
  readonly message: string
  /** The place of the job at the source. */
  readonly where: string
  /** The first bytes of the record. */
  readonly raw: Buffer
}

/** True for a job, false for an item that stays. */
export function isRecord(result: JobRecord | Reject): result is JobRecord {
  return 'importId' in result
}
