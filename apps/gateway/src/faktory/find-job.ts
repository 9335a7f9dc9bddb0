import type { Job, Scheduler } from '@crossgear/core-scheduler'
import { refOfJid } from './jids.ts'

/** No job has a longer jid. */
const maxJidBytes = 255

/** The unfinished job that a jid names, wherever it came from. Throws a StoreError. */
export async function findJob(jid: string, scheduler: Scheduler): Promise<Job | undefined> {
  if (jid.length > maxJidBytes) return undefined
  const ref = refOfJid(jid, scheduler.registry)
  const job = ref && (await scheduler.jobs.read(ref))
  // A producer may have given a jid of this form to a job of its own.
  if (job && job.jid === undefined) return job
  return scheduler.jobs.findJid(jid)
}

/** A finished job that is kept, by the jid that its producer gave. Throws a StoreError. */
export async function findFinished(jid: string, scheduler: Scheduler): Promise<Job | undefined> {
  if (jid.length > maxJidBytes) return undefined
  const ref = await scheduler.jobs.findFinished(jid)
  return ref && scheduler.jobs.read(ref)
}
