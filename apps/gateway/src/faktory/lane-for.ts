import type { LaneNames } from '@crossgear/core-scheduler'
import { FwpError, type FwpJob } from '@crossgear/fwp-codec'

/** Characters that the store's messages and the Gearman protocol use between names. */
const forbidden = /[\0-\x1f\x7f]/

/** The lane of a pushed job. Throws for a job type that no other door could name. */
export function laneFor({ jobtype, queue }: FwpJob, names: LaneNames): string {
  checkJobtype(jobtype)
  return names.lane(jobtype, queue)
}

/** Throws for a job type that no other door could name. */
export function checkJobtype(jobtype: string): void {
  if (forbidden.test(jobtype)) {
    throw new FwpError('INVALID_JOBTYPE', 'jobtype must not contain control characters')
  }
}
