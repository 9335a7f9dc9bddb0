import type { Assignment, Report, Scheduler } from '@crossgear/core-scheduler'
import { bulk, error, OK, parseTrack, type Track } from '@crossgear/fwp-codec'
import { answerLater } from '../answer-later.ts'
import { findFinished, findJob } from '../find-job.ts'
import type { Session } from '../session.ts'
import { trackOf, trackText, untracked } from '../tracking.ts'
import type { Handler } from './handler.ts'

/** How long a reservation may be extended at once, milliseconds: as long as a job may ask for. */
const longestReserveMs = 86_400_000

/**
 * `TRACK GET jid`: a bulk string, the JSON of jid, percent, desc, state, updated_at and, of a job that
 * was done, its result.
 * `TRACK SET {"jid", "percent", "desc", "reserve_until"}`: `+OK`, or `-ERR Job not found <jid>`
 * where nobody holds the job.
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
  const job =
    (await findJob(jid, scheduler, ['envelope', 'output'])) ?? (await findFinished(jid, scheduler))
  const tracked = job ? trackOf(jid, job, scheduler.storeNowMs()) : untracked(jid)
  return bulk(trackText(tracked, job))
}

async function set(
  { jid, percent, desc, reserveUntilMs }: Extract<Track, { readonly subcommand: 'SET' }>,
  session: Session,
): Promise<Buffer> {
  const { scheduler } = session.context
  const assignment = await heldBy(session, jid)
  if (!assignment) return error(`Job not found ${jid}`)
  if (percent !== undefined) await report(percent, assignment, scheduler)
  const nowMs = scheduler.storeNowMs()
  const known = await scheduler.note(assignment, {
    ...(desc !== undefined && { text: desc }),
    ...(reserveUntilMs !== undefined && {
      reserveUntilMs: Math.min(Math.max(reserveUntilMs, nowMs), nowMs + longestReserveMs),
    }),
  })
  return known ? OK : error(`Job not found ${jid}`)
}

/** The reservation that this worker has, or else the one that the store knows. */
async function heldBy(session: Session, jid: string): Promise<Assignment | undefined> {
  const held = session.worker.held.find(jid)
  if (held) return held.assignment
  const { scheduler } = session.context
  const job = await findJob(jid, scheduler)
  return job && scheduler.adopt(job)
}

/** Those who wait for the job hear of it; a reservation that is lost shows when the note is kept. */
function report(percent: number, { job }: Assignment, scheduler: Scheduler): Promise<void> {
  const { lane, id, token } = job
  const dividend = Buffer.from(String(percent))
  const status: Report = { lane, id, token, kind: 'status', dividend, divisor: Buffer.from('100') }
  return new Promise((resolve, reject) => {
    scheduler.report(status, { reported: () => resolve(), refused: reject })
  })
}
