import type { Job, Scheduler } from '@crossgear/core-scheduler'
import { refOfJid } from './jids.ts'

/** The unfinished job that a jid names, wherever it came from. Throws a StoreError. */
export async function findJob(jid: string, scheduler: Scheduler): Promise<Job | undefined> {
  const ref = refOfJid(jid, scheduler.registry)
  const job = ref && (await scheduler.read(ref))
  // A producer may have given a jid of this form to a job of its own.
  if (job && job.jid === undefined) return job
  return scheduler.findJid(jid)
}
