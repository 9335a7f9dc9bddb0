import { createHash } from 'node:crypto'
import { deathCallText, type LaneNames, type NewJob } from '@crossgear/core-scheduler'
import { type CustomOptions, type FwpJob, parseCustom } from '@crossgear/fwp-codec'
import { deathCallOf } from './death-calls.ts'

const quote = 0x22
const backslash = 0x5c
const space = 0x20

type JobOptions = Pick<NewJob, 'staleAtMs' | 'lock' | 'batch' | 'onDeath'>

/**
 * Options in a pushed job's `custom`. `expires_in` and `unique_for` count from the job's due time.
 * Throws an FwpError for an invalid value.
 */
export function jobOptionsOf(job: FwpJob, nowMs: number, names: LaneNames): JobOptions {
  if (job.custom === undefined) return {}
  const custom = parseCustom(job.custom)
  const staleAtMs = staleAt(custom, Math.max(job.atMs ?? 0, nowMs))
  const { uniqueForMs, uniqueUntil = 'success', bid, onDeath } = custom
  const { jobtype: fn, queue } = job
  return {
    ...(staleAtMs !== undefined && { staleAtMs }),
    ...(uniqueForMs !== undefined && {
      lock: { key: keyOf(job.args), forMs: uniqueForMs, until: uniqueUntil },
    }),
    ...(bid !== undefined && { batch: bid }),
    ...(onDeath && { onDeath: deathCallText(deathCallOf(onDeath, names), { fn, queue }) }),
  }
}

function staleAt({ expiresAtMs, expiresInMs }: CustomOptions, dueMs: number): number | undefined {
  const relativeMs = expiresInMs === undefined ? undefined : dueMs + expiresInMs
  if (expiresAtMs === undefined || relativeMs === undefined) return expiresAtMs ?? relativeMs
  return Math.min(expiresAtMs, relativeMs)
}

/**
 * Jobs of one type and queue are duplicates if their args are the same JSON apart from white space.
 */
function keyOf(args: string): string {
  return createHash('sha256').update(withoutBlanks(args)).digest('base64url').slice(0, 22)
}

/**
 * JSON without white space between values. No regular expression: it would fail on strings of some
 * MB.
 */
function withoutBlanks(json: string): string {
  const parts: string[] = []
  let from = 0
  let isText = false
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === quote) isText = !isText
    else if (isText && code === backslash) at += 1
    else if (!isText && code <= space) {
      parts.push(json.slice(from, at))
      from = at + 1
    }
  }
  parts.push(json.slice(from))
  return parts.join('')
}
