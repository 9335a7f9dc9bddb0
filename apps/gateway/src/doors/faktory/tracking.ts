import type { JobState } from '@crossgear/core-scheduler'
import { argsOfInput, formatRfc3339 } from '@crossgear/fwp-codec'
import { membersOf } from '../../bridge/stored-json.ts'

/** The answer to TRACK GET. */
export interface Tracked {
  readonly jid: string
  /** Absent, like `desc`, for an untracked job. */
  readonly percent?: number
  readonly desc?: string
  readonly state: TrackState
  /** RFC 3339; empty for an untracked job. */
  readonly updated_at: string
}

type TrackState = 'unknown' | 'scheduled' | 'enqueued' | 'working' | 'success' | 'failed' | 'dead'

/** Retention of a finished job whose producer wants it tracked, seconds. */
export const trackedForSeconds = 1_800

export function untracked(jid: string): Tracked {
  return { jid, state: 'unknown', updated_at: '' }
}

/** True if TRACK GET may show a job: a Faktory producer has to ask for it, other clients cannot. */
export function isTracked({ envelope }: JobState): boolean {
  return envelope === undefined || wantsTracking(membersOf(envelope).get('custom'))
}

/** `isScheduled`: an idle job waits for its time, and not in its queue. */
export function trackOf(jid: string, job: JobState, isScheduled: boolean): Tracked {
  const updatedMs = job.notedAtMs ?? job.enqueuedAtMs
  return {
    jid,
    percent: percentOf(job),
    desc: job.note ?? '',
    state: stateOf(job, isScheduled),
    updated_at: updatedMs === undefined ? '' : formatRfc3339(updatedMs),
  }
}

/**
 * The JSON answer to TRACK GET. A successful job has a `result` if its worker gave one: its output
 * as JSON, else as text, else (with `encoding`) in base64.
 */
export function trackText(tracked: Tracked, job: JobState): string {
  const text = JSON.stringify(tracked)
  if (job.status !== 'success' || !job.output?.length) return text
  const { args, encoding } = argsOfInput(job.output, 'json')
  const encoded = encoding === undefined ? '' : `,"encoding":"${encoding}"`
  return `${text.slice(0, -1)},"result":${args.slice(1, -1)}${encoded}}`
}

/** True if a producer's `custom` asks for tracking: `"track": 1` or `true`. */
export function wantsTracking(custom: string | undefined): boolean {
  if (!custom?.includes('"track"')) return false
  const value = membersOf(custom).get('track')
  return value !== undefined && !['0', 'false', 'null'].includes(value)
}

function percentOf({ dividend, divisor }: JobState): number {
  const share = Number(dividend?.toString()) / Number(divisor?.toString())
  return Number.isFinite(share) ? Math.min(100, Math.max(0, Math.floor(100 * share))) : 0
}

function stateOf(job: JobState, isScheduled: boolean): TrackState {
  switch (job.status) {
    case 'busy':
      return 'working'
    case 'success':
      return 'success'
    case 'error':
      return job.failure === undefined ? 'failed' : 'dead'
    case 'idle':
      if (!isScheduled) return 'enqueued'
      return job.failure === undefined ? 'scheduled' : 'failed'
  }
}
