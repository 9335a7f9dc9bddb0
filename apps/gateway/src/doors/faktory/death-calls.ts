import type { DeathCall, LaneNames } from '@crossgear/core-scheduler'
import { type FwpJob, parseOnDeath, writeEnvelope } from '@crossgear/fwp-codec'
import { checkJobtype, laneFor } from './lanes.ts'

/** A job of a route's `on_death`, a value of the configuration file; undefined for anything else. */
export function deathJobOf(value: unknown): FwpJob | undefined {
  try {
    const job = parseOnDeath(JSON.stringify(value))
    checkJobtype(job.jobtype)
    return job
  } catch {
    return undefined
  }
}

/** A job that is pushed at a death, without its due time, lock and batch. Throws for a job type that no other door could name. */
export function deathCallOf(pushed: FwpJob, names: LaneNames): DeathCall {
  const { queue, priority, args, retry, reserveForSeconds, fields } = pushed
  return {
    lane: laneFor(pushed, names),
    queue,
    level: priority,
    args,
    envelope: writeEnvelope({ ...pushed, fields: fields.filter(({ key }) => key !== 'jid') }),
    ...(retry !== undefined && { retries: retry }),
    ...(reserveForSeconds !== undefined && { reserveForSeconds }),
  }
}
