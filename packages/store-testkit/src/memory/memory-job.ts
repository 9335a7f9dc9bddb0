import {
  defaultLevel,
  type Door,
  type Job,
  type JobState,
  type Level,
  type LookExtra,
  type NewJob,
  type Status,
} from '@crossgear/core-scheduler'
import type { CallbackOf } from './jobs/memory-batch.ts'

/** A job's record. One written by a native client has no `level`, `enqueuedAtMs` or `terms`. */
export interface MemoryJob {
  readonly id: number
  readonly door: Door
  readonly input: Buffer
  terms: NewJob | undefined
  status: Status
  level: Level | undefined
  output?: Buffer
  failure?: string
  note?: string | undefined
  notedAtMs?: number
  enqueuedAtMs?: number | undefined
  /** Its first time in line, once it has another. */
  arrivedAtMs?: number | undefined
  /** Place among jobs queued in the same millisecond. */
  arrival?: number
  token?: string | undefined
  /** Its token while its node has it prefetched for a consumer. */
  heldAhead?: string | undefined
  /** When and by which worker it was last claimed, for limits of its queue. */
  takenAtMs?: number
  takenBy?: string
  dividend?: Buffer | undefined
  divisor?: Buffer | undefined
  settled: boolean
  /** Its native worker publishes `finish` itself. */
  isAnnounced?: boolean
  isException?: boolean
  losses: number
  /** Nodes of waiting clients, once per client. */
  waiting: string[]
  /** A foreground job, dropped when nobody waits. */
  foreground: boolean
  /** It has run once as a job of a batch. */
  ran?: true
  callback?: CallbackOf
  expiresAtMs?: number | undefined
  /** When it leaves the dead set. */
  forgottenAtMs?: number
}

/** True for a foreground job: a native client has none, whatever it wrote. */
export function isForeground({ door, foreground }: MemoryJob): boolean {
  return foreground && door !== 'native'
}

/** True for a job that has ended with all consequences: another program's mark alone does not say so. */
export function isSettled({ settled, status }: MemoryJob): boolean {
  return settled && (status === 'success' || status === 'error')
}

export function uniqueKey(unique: Uint8Array): string {
  return Buffer.from(unique).toString('latin1')
}

/** A record as the store port's job. */
export function jobOf(lane: string, job: MemoryJob): Job {
  const { id, status, door, input, losses, terms } = job
  const record = {
    lane,
    id,
    status,
    door,
    level: job.level ?? defaultLevel,
    input,
    settled: isSettled(job),
    foreground: isForeground(job),
    losses,
    waiting: job.waiting.length,
    output: job.output,
    enqueuedAtMs: job.enqueuedAtMs,
    arrivedAtMs: job.arrivedAtMs,
    unique: terms?.unique && Buffer.from(terms.unique),
    reducer: terms?.reducer && Buffer.from(terms.reducer),
    jid: terms?.jid,
    envelope: terms?.envelope,
    trace: terms?.trace,
    origin: terms?.origin,
    failure: job.failure,
    note: job.note,
    notedAtMs: job.notedAtMs,
    retries: terms?.retries,
    backoff: terms?.backoff,
    retentionSeconds: terms?.retentionSeconds,
    staleAtMs: terms?.staleAtMs,
    onDeath: terms?.onDeath,
    diesStale: terms?.diesStale,
    reserveForSeconds: terms?.reserveForSeconds,
    isTimed: terms?.isTimed,
    dividend: job.dividend,
    divisor: job.divisor,
    token: job.token,
    isException: job.isException || undefined,
  }
  return withoutUndefined(record) as Job
}

/** A record as the state that a look returns. */
export function stateOf(lane: string, job: MemoryJob, extras: readonly LookExtra[] = []): JobState {
  const { input, output, envelope, staleAtMs, diesStale, onDeath, ...state } = jobOf(lane, job)
  const hasEnded = job.status === 'success' || job.status === 'error'
  return {
    ...state,
    ...(envelope !== undefined && extras.includes('envelope') && { envelope }),
    ...(output && hasEnded && extras.includes('output') && { output }),
  }
}

function withoutUndefined(record: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
}
