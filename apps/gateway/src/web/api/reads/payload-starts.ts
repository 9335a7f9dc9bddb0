import { isUtf8 } from 'node:buffer'
import type { Scheduler } from '@crossgear/core-scheduler'
import { startLength } from '../schemas/jobs.ts'
import type { FoundJob } from './job-scan.ts'

/** A character has up to four bytes. */
const startBytes = 4 * startLength
/** Jobs of one call to the store. */
const jobsPerCall = 100

/** The first characters of the payloads of jobs, in their order; null where one is too long. */
export async function payloadStarts(
  found: readonly FoundJob[],
  { inspect }: Scheduler,
): Promise<readonly (string | null)[]> {
  const starts = new Map<FoundJob, string | null>()
  for (let at = 0; at < found.length; at += jobsPerCall) {
    const some = new Map<string, FoundJob[]>()
    for (const one of found.slice(at, at + jobsPerCall)) {
      some.set(one.job.lane, [...(some.get(one.job.lane) ?? []), one])
    }
    await Promise.all(
      [...some].map(async ([lane, jobs]) => {
        const ids = jobs.map(({ job }) => job.id)
        const read = await inspect.payloadStarts(lane, ids, { bytes: startBytes })
        for (const [place, one] of jobs.entries()) starts.set(one, startText(read[place]?.start))
      }),
    )
  }
  return found.map((one) => starts.get(one) ?? null)
}

function startText(start: Buffer | undefined): string | null {
  if (!start) return null
  // The cut may be within a character.
  const whole = start.length < startBytes ? start : start.subarray(0, lastWhole(start))
  if (!isUtf8(whole)) return whole.subarray(0, startLength / 2).toString('hex')
  return Array.from(whole.toString()).slice(0, startLength).join('')
}

/** The length without a character that is cut at the end. */
function lastWhole(bytes: Buffer): number {
  for (let back = 1; back <= 4; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length - back + 1
    if (byte >= 0xc0) return bytes.length - back
  }
  return bytes.length
}
