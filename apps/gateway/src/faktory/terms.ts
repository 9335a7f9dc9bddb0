import { createHash } from 'node:crypto'
import type { NewJob } from '@crossgear/core-scheduler'
import { parseCustom, type CustomTerms, type FwpJob } from '@crossgear/fwp-codec'

type Terms = Pick<NewJob, 'staleAtMs' | 'lock' | 'batch'>

/**
 * What a pushed job's `custom` asks of the store. `expires_in` and `unique_for` count from when the
 * job is due. Throws an FwpError for a value that cannot be used.
 */
export function termsOf(job: FwpJob, nowMs: number): Terms {
  if (job.custom === undefined) return {}
  const terms = parseCustom(job.custom)
  const staleAtMs = staleAt(terms, Math.max(job.atMs ?? 0, nowMs))
  const { uniqueForMs, uniqueUntil = 'success', bid } = terms
  return {
    ...(staleAtMs !== undefined && { staleAtMs }),
    ...(uniqueForMs !== undefined && {
      lock: { key: keyOf(job.args), forMs: uniqueForMs, until: uniqueUntil },
    }),
    ...(bid !== undefined && { batch: bid }),
  }
}

function staleAt({ expiresAtMs, expiresInMs }: CustomTerms, dueMs: number): number | undefined {
  const relativeMs = expiresInMs === undefined ? undefined : dueMs + expiresInMs
  if (expiresAtMs === undefined || relativeMs === undefined) return expiresAtMs ?? relativeMs
  return Math.min(expiresAtMs, relativeMs)
}

/** Jobs of one type and queue are doubles when their args are the same JSON but for blanks. */
function keyOf(args: string): string {
  const tight = args.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')
  return createHash('sha256').update(tight).digest('base64url').slice(0, 22)
}
