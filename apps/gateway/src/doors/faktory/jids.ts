import {
  type JobRef,
  type JobState,
  type LaneRegistry,
  type LookExtra,
  type Scheduler,
  shownJid,
} from '@crossgear/core-scheduler'

const shownForm = /^xg-([0-9a-z]{1,11})-(\d{1,16})$/

/** A job's jid for workers: its own from a Faktory producer, else the shown one. */
export function jidOf(job: Pick<JobState, 'jid' | 'lane' | 'id'>, registry: LaneRegistry): string {
  if (job.jid !== undefined) return job.jid
  return shownJid(registry.numberOf(job.lane) ?? 0, job.id)
}

/** Parses a jid of {@link jidOf}; undefined for any other jid. */
export function refOfJid(jid: string, registry: LaneRegistry): JobRef | undefined {
  const [, number, id] = shownForm.exec(jid) ?? []
  return number === undefined ? undefined : registry.refOf(Number.parseInt(number, 36), Number(id))
}

/** Longest jid of a job. */
const maxJidBytes = 255

/** Finds an unfinished job by its jid, from any door. Throws a StoreError. */
export async function findJob(
  jid: string,
  scheduler: Scheduler,
  extras?: readonly LookExtra[],
): Promise<JobState | undefined> {
  if (jid.length > maxJidBytes) return undefined
  const shown = refOfJid(jid, scheduler.registry)
  const job = shown && (await scheduler.jobs.look(shown, extras))
  // A producer may have given its own job a jid of this form.
  if (job && job.jid === undefined) return job
  return scheduler.jobs.findJid(jid, extras)
}

/** Finds the lane and id of an unfinished job by its jid. Throws a StoreError. */
export async function findRef(jid: string, scheduler: Scheduler): Promise<JobRef | undefined> {
  if (jid.length > maxJidBytes) return undefined
  if (refOfJid(jid, scheduler.registry)) return findJob(jid, scheduler)
  return scheduler.jobs.refOfJid(jid)
}

/** Finds a kept, finished job by its producer's jid. Throws a StoreError. */
export async function findFinished(
  jid: string,
  scheduler: Scheduler,
): Promise<JobState | undefined> {
  if (jid.length > maxJidBytes) return undefined
  const ref = await scheduler.jobs.findFinished(jid)
  return ref && scheduler.jobs.look(ref, ['envelope', 'output'])
}
