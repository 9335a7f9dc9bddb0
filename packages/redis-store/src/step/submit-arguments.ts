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

interface ArrivalParts {
  readonly notes: ReadonlyMap<string, string> | undefined
  readonly outside: InputsOutside
  /** Limits of each value, if the lane's jobs take turns, or empty. */
  readonly turnLimits: string
}

/** Adds the jobs of one lane to the arguments of the step script, as its head says. */
export function addArrivals(
  args: ScriptArgument[],
  { lane, jobs, places }: LaneArrivals,
  link: RedisContext,
  { notes, outside, turnLimits }: ArrivalParts,
): void {
  const { isCluster, isAutoOpen } = link
  const values = args.push(lane, link.queueOf(lane), 0)
  args.push(turnLimits === '' && jobs.every(isKeepable) ? 1 : 0, jobs.length)
  const runs = args.push(0)
  let [count, run, size] = [0, 0, 0]
  let before: NewJob | undefined
  if (turnLimits !== '') {
    args.push(0, defaultLevel, 0, turnLimits)
    count = 1
  }
  for (const [at, job] of jobs.entries()) {
    if (!before || !isOfRun(before, job)) {
      run = args.push(0, job.level, job.foreground ? 1 : 0, job.door) - 4
      ;[count, size] = [count + 1, 0]
    }
    before = job
    size += 1
    args[run] = size
    args.push(places[at] ?? 0)
    if (outside && job.input.length >= outsideFrom) args.push(outside.push(job.input))
    else args.push(job.input)
    const more = args.push(0)
    if (!isPlain(job)) {
      addExtras(args, job, (isCluster ? notes?.get(job.batch ?? '') : job.batch) ?? '', isAutoOpen)
      addFurtherFields(args, job)
    }
    args[more - 1] = args.length - more
  }
  args[runs - 1] = count
  args[values - 1] = args.length - values
}

function isOfRun(one: NewJob, other: NewJob): boolean {
  return one.level === other.level && one.foreground === other.foreground && one.door === other.door
}

/** Adds times, lock, batch, tick and conditions, up to the last one that the job has; `batch` as the script names it. */
function addExtras(args: ScriptArgument[], job: NewJob, batch: string, isAutoOpen: boolean): void {
  const { dueAtMs = '', lock, tick, admission } = job
  const extras = args.push(0)
  if (admission || tick || lock || batch || dueAtMs !== '') args.push(dueAtMs)
  if (admission || tick || lock || batch) args.push(lock?.key ?? '', lock?.forMs ?? 0)
  if (admission || tick || batch) args.push(batch)
  if (admission || tick) args.push(tick?.entry ?? '', tick?.atMs ?? 0)
  if (admission) {
    const { maxWaiting = 0, needsWorker, lanes = [] } = admission
    args.push(maxWaiting, needsWorker ? (isAutoOpen ? 'auto' : 'named') : '', ...lanes)
  }
  args[extras - 1] = args.length - extras
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
  if (typeof id !== 'number')
    return { kind: id.toString() as 'unattended' | 'locked' | 'unbatched' | 'ticked' }
  if (id === 0) return { kind: 'full' }
  if (id < 0) return { kind: 'joined', id: -id }
  if (Number.isInteger(id)) return { kind: 'created', id }
  return { kind: 'created', id: Math.floor(id), sharesTurn: true }
}
