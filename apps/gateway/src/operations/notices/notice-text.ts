import type { JobRef, Scheduler } from '@crossgear/core-scheduler'
import { attemptsOf, type ForeignRecord, textOf } from '../../bridge/attempts.ts'
import { failuresOf } from '../../bridge/faktory-retries.ts'
import { jidOf } from '../../doors/faktory/jids.ts'
import type { Handles } from '../../doors/gearman/handles.ts'
import { parseJson } from '../../json.ts'

interface Parts {
  readonly scheduler: Pick<Scheduler, 'jobs' | 'registry'>
  readonly handles: Handles
  /** Name of this process in the store. */
  readonly node: string
}

/** The notice of a dead job, as JSON without its payload; undefined if it is gone. */
export async function noticeText(
  ref: JobRef,
  diedAtMs: number,
  { scheduler, handles, node }: Parts,
): Promise<string | undefined> {
  const job = await scheduler.jobs.look(ref)
  if (job?.failure === undefined) return undefined
  const { fn, queue } = scheduler.registry.names.parse(job.lane)
  const record = parseJson(job.failure) as ForeignRecord
  const { errtype = 'unknown', message = '' } = attemptsOf(record).at(-1) ?? {}
  return JSON.stringify({
    event: 'job.dead',
    function: fn,
    queue,
    jid: jidOf(job, scheduler.registry),
    handle: handles.of(job) ?? null,
    door: job.door,
    errtype,
    message,
    failed_runs: failuresOf(job),
    lost_workers: job.losses,
    first_failed_at: textOf(record['failed_at']) ?? null,
    died_at: new Date(diedAtMs).toISOString(),
    node,
  })
}
