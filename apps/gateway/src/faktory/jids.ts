import type { Job, JobRef, LaneRegistry } from '@crossgear/core-scheduler'

/** What a jid must have at least, by the protocol. */
const minJidBytes = 8
const shownJid = /^xg-([0-9a-z]+)-(\d{1,15})$/

/**
 * The jid under which a worker sees a job: its own if a Faktory producer pushed it, else
 * `xg-<lane's number in base 36>-<id>`, the id padded with zeros to the length that a jid must have.
 */
export function jidOf(job: Job, registry: LaneRegistry): string {
  if (job.jid !== undefined) return job.jid
  const prefix = `xg-${(registry.numberOf(job.lane) ?? 0).toString(36)}-`
  return prefix + String(job.id).padStart(minJidBytes - prefix.length, '0')
}

/** The job that a jid of {@link jidOf} names; undefined for any other jid. */
export function refOfJid(jid: string, registry: LaneRegistry): JobRef | undefined {
  const [, number, id] = shownJid.exec(jid) ?? []
  if (number === undefined) return undefined
  const lane = registry.laneOf(parseInt(number, 36))
  return lane === undefined ? undefined : { lane, id: Number(id) }
}
