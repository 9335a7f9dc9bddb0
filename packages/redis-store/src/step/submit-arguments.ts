import type { LaneArrivals, LaneSubmitted, Submitted } from '@crossgear/core-scheduler'
import { addFields } from '../jobs/job-hash.ts'
import type { ScriptArgument } from '../scripts/scripts.ts'
import type { RedisContext } from '../connection/redis-context.ts'

/** Puts the jobs of one lane behind other arguments of the step script, as its head says. */
export function addArrivals(
  args: ScriptArgument[],
  { lane, jobs, places }: LaneArrivals,
  link: RedisContext,
  notes: ReadonlyMap<string, string> | undefined,
): void {
  const { node } = link
  const strings = args.push(lane, link.queueOf(lane), 0)
  args.push(jobs.length)
  for (const [at, job] of jobs.entries()) {
    args.push(
      job.level,
      job.dueAtMs ?? '',
      job.unique ?? '',
      job.foreground ? '1' : '',
      job.jid ?? '',
      job.lock?.key ?? '',
      job.lock?.forMs ?? 0,
      (link.isCluster ? notes?.get(job.batch ?? '') : job.batch) ?? '',
      job.tick?.entry ?? '',
      job.tick?.atMs ?? 0,
      places[at] ?? 0,
    )
    const count = args.push(0)
    addFields(args, job)
    if (job.foreground) args.push('wait', node, 'fg', '1')
    args[count - 1] = args.length - count
  }
  args[strings - 1] = args.length - strings
}

/** The script's answer for a lane. */
export function laneSubmittedOf([isPublished, isOpen, ...results]: readonly (
  number | Buffer
)[]): LaneSubmitted {
  return { isPublished: isPublished === 1, isOpen: isOpen === 1, results: results.map(submittedOf) }
}

function submittedOf(id: number | Buffer): Submitted {
  if (typeof id !== 'number') return { kind: id.toString() as 'locked' | 'unbatched' | 'ticked' }
  if (id === 0) return { kind: 'full' }
  return id > 0 ? { kind: 'created', id } : { kind: 'joined', id: -id }
}
