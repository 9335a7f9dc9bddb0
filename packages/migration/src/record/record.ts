import type { Door, Level } from '@crossgear/core-scheduler'

/** Where a job stood at its source. A `working` job is queued again: its run may be repeated. */
export type RecordState = 'queued' | 'scheduled' | 'retry' | 'dead' | 'working'

export const recordStates: readonly RecordState[] = [
  'queued',
  'scheduled',
  'retry',
  'dead',
  'working',
]

/** A job on its way from one system to another. */
export interface JobRecord {
  /** 16 bytes: which job of which source it is. The same for each time it is read. */
  readonly importId: Buffer
  readonly state: RecordState
  /** By which protocol it entered. */
  readonly door: Door
  readonly fn: string
  /** Its Faktory queue; absent: the home queue of its function. */
  readonly queue?: string
  /** Gearman's unique id, as a client gives it; empty or absent: none. */
  readonly unique?: Buffer
  readonly level: Level
  readonly payload: Buffer
  /** When a scheduled job or a retry is due, milliseconds since 1970. */
  readonly dueAtMs?: number
  /** When a dead job is forgotten, milliseconds since 1970. */
  readonly forgetAtMs?: number
  /** When it was queued, milliseconds since 1970. */
  readonly enqueuedAtMs?: number
  readonly reducer?: Buffer
  readonly jid?: string
  /** The Faktory job without its args, JSON text as it was. */
  readonly envelope?: string
  /** Faktory's `failure`, JSON text as it was. */
  readonly failure?: string
  readonly retries?: number
  readonly reserveForSeconds?: number
  readonly retentionSeconds?: number
  /** From then on nobody wants it run, milliseconds since 1970. */
  readonly staleAtMs?: number
  /** By what its source finds it again, of no meaning elsewhere. */
  readonly sourceKey?: Buffer
}

/** Why something at a source is no job that can be moved. */
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
  /** The target's protocol has no way to say it. */
  | 'not_carried'
  /** The target said no. */
  | 'refused'
  /** It was sent before, and nobody knows whether it came. */
  | 'in_doubt'
  | 'not_read'

/** Something at a source that stays there. */
export interface Reject {
  readonly reason: RejectReason
  /** One line: what is wrong with it. */
  readonly message: string
  /** Where it is at its source. */
  readonly where: string
  /** Its first bytes at most. */
  readonly raw: Buffer
}
