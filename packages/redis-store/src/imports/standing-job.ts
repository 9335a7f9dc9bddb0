import type { Job } from '@crossgear/core-scheduler'
import { instantOf, timeOf } from '../jobs/job-fields.ts'

/** The lock of `unique_for` that a job holds: its key, when it is freed, and until when it holds that, ms. */
const lockFields = ['once', 'once_until', 'once_ms'] as const

const ownFields = [
  'bid',
  'callback',
  'ran',
  'losses',
  'trace',
  'turn',
  'origin',
  'moved',
  'on_death',
  'backoff',
  'timed',
  'dies_stale',
] as const

/** Fields of a job's hash that only a Crossgear store knows: they come and go with a backup. */
export const furtherFields = [...ownFields, ...lockFields] as const

export type FurtherFields = Readonly<Partial<Record<(typeof furtherFields)[number], string>>>

/** The current state of an imported job; absent if it has ended. */
export interface StandingJob {
  readonly job: Job
  /** Due time of a scheduled job, milliseconds since 1970. */
  readonly dueAtMs?: number
  /** When a dead job is dropped, milliseconds since 1970. */
  readonly forgetAtMs?: number
  /** The job is not run after this time, milliseconds since 1970. */
  readonly staleAtMs?: number
  readonly further?: FurtherFields
  /** The place of the job, with the times above, before a rollback put it out of the workers' reach. */
  readonly heldFrom?: HeldFrom
}

const heldFroms = ['queued', 'scheduled', 'retry', 'dead'] as const
type HeldFrom = (typeof heldFroms)[number]

/**
 * Parses the field `held`: a job's place, and after a colon its due or expiry time in milliseconds.
 */
export function heldOf(field: Buffer | undefined): Omit<StandingJob, 'job'> | undefined {
  const [name, ms] = field?.toString().split(':') ?? []
  const heldFrom = heldFroms.find((known) => known === name)
  const atMs = ms === undefined ? undefined : timeOf(Buffer.from(ms))
  if (!heldFrom || atMs === undefined) return heldFrom && { heldFrom }
  return { heldFrom, ...(heldFrom === 'dead' ? { forgetAtMs: atMs } : { dueAtMs: atMs }) }
}

/** The fields of a hash that {@link Job} does not have. `lockedUntilMs`: until when it holds its lock, if it does. */
export function furtherOf(
  fields: Readonly<Record<string, Buffer>>,
  lockedUntilMs: number | undefined,
): Pick<StandingJob, 'further' | 'staleAtMs'> {
  const names = lockedUntilMs === undefined ? ownFields : furtherFields
  const pairs = names.flatMap((name) => (fields[name] ? [[name, String(fields[name])]] : []))
  if (lockedUntilMs !== undefined) pairs.push(['once_ms', String(lockedUntilMs)])
  const staleAtMs = fields['stale'] && instantOf(fields['stale'])
  return {
    ...(staleAtMs !== undefined && { staleAtMs }),
    ...(pairs.length > 0 && { further: Object.fromEntries(pairs) as FurtherFields }),
  }
}
