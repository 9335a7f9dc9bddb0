import type { ScriptArgument } from '../scripts/scripts.ts'
import type { ImportedJob, ImportPlace } from './imports.ts'

/** Codes of the places in the script. */
const placeCodes: Readonly<Record<ImportPlace, number>> = { queue: 0, retry: 1, dead: 2 }

/** Adds a job's arguments for `lua/imports/import.lua`. */
export function addJob(args: ScriptArgument[], imported: ImportedJob): void {
  const { job, door, place, arrivedUs, forgetAtMs } = imported
  const dueMs = place === 'dead' ? forgetAtMs : job.dueAtMs
  args.push(imported.importId, imported.digest, placeCodes[place], job.level, dueMs ?? '')
  if (door === 'native') {
    // A native program writes no more than these.
    args.push('', '', '-', '', job.input)
  } else args.push(job.unique ?? '', job.jid ?? '', arrivedUs, door, job.input)
  const count = args.push(0)
  if (job.reducer) args.push('reducer', job.reducer)
  if (job.envelope !== undefined) args.push('envelope', job.envelope)
  if (job.retries !== undefined) args.push('retries', String(job.retries))
  if (job.reserveForSeconds !== undefined) args.push('reserve_for', String(job.reserveForSeconds))
  if (job.retentionSeconds) args.push('keep', String(job.retentionSeconds))
  if (job.staleAtMs !== undefined) args.push('stale', String(job.staleAtMs))
  if (imported.failure !== undefined) args.push('failure', imported.failure)
  for (const [name, value] of Object.entries(imported.further ?? {})) args.push(name, value)
  args[count - 1] = args.length - count
}
