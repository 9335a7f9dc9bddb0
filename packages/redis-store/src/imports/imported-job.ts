import { type Door, nativeDoor, type NewJob } from '@crossgear/core-scheduler'
import type { ScriptArgument } from '../scripts/script-name.ts'
import type { FurtherFields } from './standing-job.ts'

/** Destination of an imported job. */
type ImportPlace = 'queue' | 'retry' | 'dead'

/** A job from another system. */
export interface ImportedJob {
  /** 16 bytes that identify the job and its source. */
  readonly importId: Buffer
  /** 8 bytes, the digest of its content, for later comparison. */
  readonly digest: Buffer
  readonly place: ImportPlace
  readonly door: Door
  readonly job: Omit<NewJob, 'door' | 'foreground' | 'lock' | 'batch' | 'tick'>
  /** Faktory's `failure`, JSON text. */
  readonly failure?: string
  /**
   * Place in the order of arrival over all lanes: microseconds of `RedisImports.nowUs` and
   * later.
   */
  readonly arrivedUs: number
  /** For a dead job: when it is dropped, milliseconds since 1970. */
  readonly forgetAtMs?: number
  readonly further?: FurtherFields
}

/** Codes of the places in the script. */
const placeCodes: Readonly<Record<ImportPlace, number>> = { queue: 0, retry: 1, dead: 2 }

/** Adds a job's arguments for `lua/imports/import.lua`. */
export function addJob(args: ScriptArgument[], imported: ImportedJob): void {
  const { job, door, place, arrivedUs, forgetAtMs } = imported
  const dueMs = place === 'dead' ? forgetAtMs : job.dueAtMs
  args.push(imported.importId, imported.digest, placeCodes[place], job.level, dueMs ?? '')
  if (door === nativeDoor) {
    // A native program writes no more than these.
    args.push('', '', '-', '', job.input)
  } else args.push(job.unique ?? '', job.jid ?? '', arrivedUs, door, job.input)
  const { once = '', once_ms: untilMs = '0', ...further } = imported.further ?? {}
  args.push(once, Number(untilMs))
  const count = args.push(0)
  if (job.reducer) args.push('reducer', job.reducer)
  if (job.envelope !== undefined) args.push('envelope', job.envelope)
  if (job.retries !== undefined) args.push('retries', String(job.retries))
  if (job.reserveForSeconds !== undefined) args.push('reserve_for', String(job.reserveForSeconds))
  if (job.retentionSeconds) args.push('keep', String(job.retentionSeconds))
  if (job.staleAtMs !== undefined) args.push('stale', String(job.staleAtMs))
  if (imported.failure !== undefined) args.push('failure', imported.failure)
  for (const [name, value] of Object.entries(further)) args.push(name, value)
  args[count - 1] = args.length - count
}
