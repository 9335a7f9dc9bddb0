import type { Job } from '@crossgear/core-scheduler'
import { instantOf, timeOf } from '../jobs/job-fields.ts'

/** Fields of a job's hash that only a Crossgear store knows: they come and go with a backup. */
export const furtherFields = [
  'bid',
  'callback',
  'ran',
  'losses',
  'trace',
  'turn',
  'origin',
  'on_death',
  'backoff',
  'timed',
  'dies_stale',
] as const

export type FurtherFields = Readonly<Partial<Record<(typeof furtherFields)[number], string>>>

/** The current state of an imported job; absent if it has ended. */
export interface StandingJob {
  readonly job: Job
  /** Due time of a scheduled job, milliseconds since 1970. */
  readonly dueAtMs?: number
  /** When a dead job is dropped, milliseconds since 1970. */
  readonly forgetAtMs?: number
  /** It is not run after this time, milliseconds since 1970. */
  readonly staleAtMs?: number
  readonly further?: FurtherFields
  /** Its place, with the times above, before a rollback put it out of the workers' reach. */
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

/** The fields of a hash that {@link Job} does not have. */
export function furtherOf(
  fields: Readonly<Record<string, Buffer>>,
): Pick<StandingJob, 'further' | 'staleAtMs'> {
  const pairs = furtherFields.flatMap((name) =>
    fields[name] ? [[name, String(fields[name])]] : [],
  )
  const staleAtMs = fields['stale'] && instantOf(fields['stale'])
  return {
    ...(staleAtMs !== undefined && { staleAtMs }),
    ...(pairs.length > 0 && { further: Object.fromEntries(pairs) as FurtherFields }),
  }
}
