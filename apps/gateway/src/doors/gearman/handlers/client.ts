import {
  bandLevel,
  defaultLevel,
  type JobState,
  type Level,
  type NewJob,
} from '@crossgear/core-scheduler'
import {
  encodeResponse,
  maxUniqueBytes,
  type PlainSubmission,
  plainSubmissions,
} from '@crossgear/gearman-codec'
import { nextMatch, readSchedule } from '../next-match.ts'
import type { PacketHandler, Session } from '../session.ts'
import { argument, coalescingKey, denominatorDigits, dueAt, progressFigure } from '../translate.ts'

/** Fields of a job that depend on the packet's type. */
interface Particulars {
  readonly level: Level
  readonly foreground: boolean
  readonly dueAtMs?: number | undefined
  readonly reducer?: Buffer
}

function submit(
  session: Session,
  [fn, unique, data]: readonly [Buffer, Buffer, Buffer],
  particulars: Particulars,
): void {
  const name = session.readLane(fn)
  if (!name) return
  const { level, foreground, dueAtMs, reducer } = particulars
  if (unique.length > maxUniqueBytes || (reducer?.length ?? 0) > maxUniqueBytes) {
    session.sendError('UNIQUE_TOO_LARGE')
    return
  }
  const key = coalescingKey(unique, data)
  const job: NewJob = {
    input: data,
    door: 'gearman',
    level,
    foreground,
    ...(key && { unique: key }),
    ...(dueAtMs !== undefined && { dueAtMs }),
    ...(reducer?.length && { reducer }),
  }
  session.client.submit(name.lane, job)
}

/** `SUBMIT_JOB[_HIGH|_LOW][_BG]` function, unique, data -> `JOB_CREATED` handle. */
function submitAt(level: Level, foreground: boolean): PacketHandler {
  const particulars = { level, foreground }
  return (session, args) =>
    submit(session, [argument(args, 0), argument(args, 1), argument(args, 2)], particulars)
}

/** The handlers of submissions without further fields. */
export const plainSubmits = Object.fromEntries(
  plainSubmissions.map(({ name, priority, isBackground }) => {
    return [name, submitAt(bandLevel[priority], !isBackground)]
  }),
) as Readonly<Record<PlainSubmission['name'], PacketHandler>>

/** `SUBMIT_JOB_EPOCH` function, unique, seconds since 1970, data. */
export const submitJobEpoch: PacketHandler = (session, args) => {
  const dueAtMs = dueAt(argument(args, 2))
  const job = [argument(args, 0), argument(args, 1), argument(args, 3)] as const
  submit(session, job, { level: defaultLevel, foreground: false, dueAtMs })
}

/** `SUBMIT_JOB_SCHED` function, unique, minute, hour, day of month, month, day of week, data. */
export const submitJobSched: PacketHandler = (session, args) => {
  const schedule = readSchedule(args.slice(2, 7))
  const dueAtMs = schedule && nextMatch(schedule, session.scheduler.storeNowMs())
  if (dueAtMs === undefined) {
    session.sendError('NEVER_DUE')
    return
  }
  const job = [argument(args, 0), argument(args, 1), argument(args, 7)] as const
  submit(session, job, { level: defaultLevel, foreground: false, dueAtMs })
}

/** `SUBMIT_REDUCE_JOB[_BACKGROUND]` function, unique, reducer, an unused argument, data. */
function submitReduce(foreground: boolean): PacketHandler {
  return (session, args) => {
    const job = [argument(args, 0), argument(args, 1), argument(args, 4)] as const
    submit(session, job, { level: defaultLevel, foreground, reducer: argument(args, 2) })
  }
}

export const submitReduceJob = submitReduce(true)
export const submitReduceJobBackground = submitReduce(false)

/** `GET_STATUS` handle -> `STATUS_RES` handle, known, running, numerator, denominator. */
export const getStatus: PacketHandler = (session, args) => {
  const handle = argument(args, 0)
  const ref = session.context.handles.parse(handle.toString('latin1'))
  session.answerNow(async () => {
    const job = ref && (await session.scheduler.jobs.look(ref))
    return encodeResponse('STATUS_RES', handle, ...figuresOf(job))
  })
}

/** `GET_STATUS_UNIQUE` unique -> `STATUS_RES_UNIQUE` unique, the figures, waiting clients. */
export const getStatusUnique: PacketHandler = (session, args) => {
  const unique = argument(args, 0)
  session.answer(async () => {
    const job = await findUnique(session, unique)
    const waiting = String(job?.waiting ?? 0)
    return encodeResponse('STATUS_RES_UNIQUE', unique, ...figuresOf(job), waiting)
  })
}

/** The newest unfinished job with the unique id: several functions may have one. */
async function findUnique(session: Session, unique: Buffer): Promise<JobState | undefined> {
  // No job has a longer one, and the search goes through each function.
  if (unique.length === 0 || unique.length > maxUniqueBytes) return undefined
  let newest: JobState | undefined
  for (const ref of await session.scheduler.jobs.findUnique(unique)) {
    const job = await session.scheduler.jobs.look(ref)
    if (!job || !isUnfinished(job)) continue
    if (!newest || (job.enqueuedAtMs ?? 0) >= (newest.enqueuedAtMs ?? 0)) newest = job
  }
  return newest
}

function isUnfinished(job: JobState): boolean {
  return job.status === 'idle' || job.status === 'busy'
}

/** Known, running, numerator, denominator: all 0 for a finished or unknown job. */
function figuresOf(job: JobState | undefined): readonly string[] {
  if (!job || !isUnfinished(job)) return ['0', '0', '0', '0']
  const running = job.status === 'busy' ? '1' : '0'
  return [
    '1',
    running,
    progressFigure(job.dividend),
    progressFigure(job.divisor, denominatorDigits),
  ]
}
