import type { Lease, LaneNames } from '@crossgear/core-scheduler'
import { failuresOf } from '../../bridge/faktory-retries.ts'

export interface JobNames {
  readonly handle: string | undefined
  readonly jid: string
  readonly unique: Uint8Array | string
  /** The `traceparent` of its run, where jobs are traced. */
  readonly trace: string | undefined
}

/** The headers that tell a target which job it has. */
export function jobHeaders(
  job: Lease,
  names: LaneNames,
  { handle, jid, unique, trace }: JobNames,
): Record<string, string> {
  const { fn, queue } = names.parse(job.lane)
  return {
    'Crossgear-Function': headerText(fn),
    'Crossgear-Queue': headerText(queue),
    ...(handle !== undefined && { 'Crossgear-Handle': headerText(handle) }),
    'Crossgear-Jid': headerText(jid),
    ...(unique.length > 0 && { 'Crossgear-Unique': headerText(unique) }),
    'Crossgear-Attempt': String(1 + failuresOf(job) + job.losses),
    'Crossgear-Priority': String(job.level),
    ...(trace !== undefined && { traceparent: trace }),
  }
}

/** Bytes beyond visible ASCII, and `%`, as in a URL: names may hold any. */
export function headerText(text: Uint8Array | string): string {
  let shown = ''
  for (const byte of Buffer.from(text)) {
    const isPlain = byte > 0x20 && byte < 0x7f && byte !== 0x25
    shown += isPlain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return shown
}
