import type { JobRef, JobState, LookExtra, Scheduler } from '@crossgear/core-scheduler'
import { refOfJid } from './jids.ts'

/** No job has a longer jid. */
const maxJidBytes = 255

/** The unfinished job that a jid names, wherever it came from. Throws a StoreError. */
export async function findJob(
  jid: string,
  scheduler: Scheduler,
  extras?: readonly LookExtra[],
): Promise<JobState | undefined> {
  if (jid.length > maxJidBytes) return undefined
  const shown = refOfJid(jid, scheduler.registry)
  const job = shown && (await scheduler.jobs.look(shown, extras))
  // A producer may have given a jid of this form to a job of its own.
  if (job && job.jid === undefined) return job
  return scheduler.jobs.findJid(jid, extras)
}

/** Where the unfinished job stands that a jid names. Throws a StoreError. */
export async function findRef(jid: string, scheduler: Scheduler): Promise<JobRef | undefined> {
  if (jid.length > maxJidBytes) return undefined
  if (refOfJid(jid, scheduler.registry)) return findJob(jid, scheduler)
  return scheduler.jobs.refOfJid(jid)
}

/** A finished job that is kept, by the jid that its producer gave. Throws a StoreError. */
export async function findFinished(
  jid: string,
  scheduler: Scheduler,
): Promise<JobState | undefined> {
  if (jid.length > maxJidBytes) return undefined
  const ref = await scheduler.jobs.findFinished(jid)
  return ref && scheduler.jobs.look(ref, ['envelope', 'output'])
}
