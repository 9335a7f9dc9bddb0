import {
  defaultLevel,
  type LaneArrivals,
  type LaneSubmitted,
  type NewJob,
  type Submitted,
} from '@crossgear/core-scheduler'
import { addFurtherFields } from '../jobs/job-hash.ts'
import { isKeepable } from './kept-jobs.ts'
import type { ScriptArgument } from '../scripts/script-name.ts'
import type { RedisContext } from '../connection/redis-context.ts'

/**
 * Payloads from this size on, bytes, do not pass through Lua: it costs Redis 1.3 and 1.75 times the processor time at 10 and
 * 60 KB. From 1 KB on, gateway and Redis would take 1.1 times at 1 and 2 KB, for a command each.
 */
const outsideFrom = 8 * 1024

/** Payloads that stand in hashes of their own before the script runs. Absent where they go with the arguments. */
export type InputsOutside = Uint8Array[] | undefined

/** Adds the jobs of one lane to the arguments of the step script, as its head says. */
export function addArrivals(
  args: ScriptArgument[],
  { lane, jobs, places }: LaneArrivals,
  link: RedisContext,
  notes: ReadonlyMap<string, string> | undefined,
  outside: InputsOutside,
): void {
  const { isCluster } = link
  const values = args.push(lane, link.queueOf(lane), 0)
  args.push(jobs.every(isKeepable) ? 1 : 0, jobs.length)
  for (const [at, job] of jobs.entries()) {
    args.push(job.level, places[at] ?? 0, job.foreground ? 1 : 0, job.door)
    if (outside && job.input.length >= outsideFrom) args.push(outside.push(job.input))
    else args.push(job.input)
    const count = args.push(0)
    if (!isPlain(job))
      addRest(args, job, (isCluster ? notes?.get(job.batch ?? '') : job.batch) ?? '')
    args[count - 1] = args.length - count
  }
  args[values - 1] = args.length - values
}

/** Adds all of a job but payload, door and place in line; `batch` as the script names it. */
function addRest(args: ScriptArgument[], job: NewJob, batch: string): void {
  args.push(
    job.dueAtMs ?? '',
    job.unique ?? '',
    job.jid ?? '',
    job.lock?.key ?? '',
    job.lock?.forMs ?? 0,
    batch,
    job.tick?.entry ?? '',
    job.tick?.atMs ?? 0,
  )
  addFurtherFields(args, job)
}

/** Properties of every job. Most of Gearman's have no others. */
const plain = new Set<string>(['input', 'door', 'level', 'foreground'] satisfies (keyof NewJob)[])

function isPlain(job: NewJob): boolean {
  if (job.level !== defaultLevel || job.jid !== undefined) return false
  for (const name in job) {
    if (!plain.has(name) && job[name as keyof NewJob] !== undefined) return false
  }
  return true
}

/** The script's answer for a lane. */
export function laneSubmittedOf([number, isPublished, isOpen, ...results]: readonly (
  | number
  | Buffer
)[]): LaneSubmitted {
  return {
    laneNumber: Number(number),
    isPublished: isPublished === 1,
    isOpen: isOpen === 1,
    results: results.map(submittedOf),
  }
}

function submittedOf(id: number | Buffer): Submitted {
  if (typeof id !== 'number') return { kind: id.toString() as 'locked' | 'unbatched' | 'ticked' }
  if (id === 0) return { kind: 'full' }
  return id > 0 ? { kind: 'created', id } : { kind: 'joined', id: -id }
}
