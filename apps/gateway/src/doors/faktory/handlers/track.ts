import type { Assignment, JobState, Report, Scheduler } from '@crossgear/core-scheduler'
import { bulk, error, okReply, parseTrack, type Track } from '@crossgear/fwp-codec'
import { answerLater } from '../answers.ts'
import { findFinished, findJob } from '../jids.ts'
import type { Handler, Session } from '../session.ts'
import { isTracked, trackOf, trackText, untracked } from '../tracking.ts'

/** Longest extension of a lease, milliseconds: the longest `reserve_for`. */
const longestReserveMs = 86_400_000

/**
 * `TRACK GET jid`: a bulk string, JSON of jid, percent, desc, state, updated_at and, after success, the result. `TRACK SET
 * {"jid", "percent", "desc", "reserve_until"}`: `+OK` or `-ERR Job not found <jid>`. Without a consumer: percent and desc.
 */
export const track: Handler = (session, argument) => {
  const command = parseTrack(argument)
  answerLater(session, () =>
    command.subcommand === 'GET'
      ? get(command.jid, session.context.scheduler)
      : set(command, session),
  )
}

async function get(jid: string, scheduler: Scheduler): Promise<Buffer> {
  const job = await find(jid, scheduler)
  if (!job || !isTracked(job)) return bulk(JSON.stringify(untracked(jid)))
  const standing =
    job.status === 'idle' ? await scheduler.inspect.standing(job.lane, job.id) : undefined
  return bulk(trackText(trackOf(jid, job, standing?.place === 'scheduled'), job))
}

async function set(
  { jid, percent, desc, reserveUntilMs }: Extract<Track, { readonly subcommand: 'SET' }>,
  session: Session,
): Promise<Buffer> {
  const { scheduler } = session.context
  const note = { ...(desc !== undefined && { text: desc }) }
  const { assignment, job } = await holding(session, jid)
  if (!assignment) {
    const noted = { ...note, ...(percent !== undefined && { percent }) }
    const isKnown = job !== undefined && (await scheduler.annotate(job, noted))
    return isKnown ? okReply : error(`Job not found ${jid}`)
  }
  if (percent !== undefined) await report(percent, assignment, scheduler)
  const nowMs = scheduler.storeNowMs()
  const known = await scheduler.note(assignment, {
    ...note,
    ...(reserveUntilMs !== undefined && {
      reserveUntilMs: Math.min(Math.max(reserveUntilMs, nowMs), nowMs + longestReserveMs),
    }),
  })
  return known ? okReply : error(`Job not found ${jid}`)
}

/** The lease of this worker, or else the job and a consumer's lease from the store. */
async function holding(
  session: Session,
  jid: string,
): Promise<{ readonly assignment?: Assignment | undefined; readonly job?: JobState | undefined }> {
  const held = session.worker.held.find(jid)
  if (held) return { assignment: held.assignment }
  const { scheduler } = session.context
  const job = await find(jid, scheduler)
  return { job, assignment: job && scheduler.lookupLease(job) }
}

/** The job, unfinished or finished and kept. */
async function find(jid: string, scheduler: Scheduler): Promise<JobState | undefined> {
  const job = await findJob(jid, scheduler, ['envelope', 'output'])
  return job ?? findFinished(jid, scheduler)
}

/** Notifies waiters; a lost lease shows when the note is stored. */
function report(percent: number, { job }: Assignment, scheduler: Scheduler): Promise<void> {
  const { lane, id, token } = job
  const dividend = Buffer.from(String(percent))
  const status: Report = { lane, id, token, kind: 'status', dividend, divisor: Buffer.from('100') }
  return new Promise((resolve, reject) => {
    scheduler.report(status, { reported: () => resolve(), refused: reject })
  })
}
