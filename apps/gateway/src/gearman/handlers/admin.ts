import type { JobSummary, LaneCounts } from '@crossgear/core-scheduler'
import {
  formatPid,
  formatPriorityStatus,
  formatShowJobs,
  formatShowUniqueJobs,
  formatStatus,
  formatVerbose,
  formatVersion,
  formatWorkers,
  parseAdminLine,
  type AdminCommand,
} from '@crossgear/gearman-codec'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ownTexts } from '../replies.ts'
import type { Session } from '../session.ts'
import { shownUnique } from '../translate.ts'
import { cancelJob, createFunction, dropFunction, setMaxQueue, shutDown } from './admin-changes.ts'

/** What is done for one text command; the reply is text, its line ends included. */
type TextHandler<Name extends AdminCommand['command']> = (
  session: Session,
  command: Extract<AdminCommand, { command: Name }>,
) => string | Promise<string>

type PlainHandler = (session: Session) => string | Promise<string>

/** Most jobs that one `show` lists; the rest is left out. */
const mostShown = 100_000

/** Rows of a list that are made at once, about a millisecond's work. */
const rowsPerTurn = 2_000
const listEnd = '.\n'

/** `function TAB total TAB running TAB workers`, of the whole store. */
const status: PlainHandler = async ({ scheduler }) =>
  listed(await scheduler.admin.counts(), (some) => formatStatus(some.map(statusRow)))

/** Jobs that are due later are among the queued, as in gearmand. */
function statusRow({ lane, high, normal, low, scheduled, running, workers }: LaneCounts) {
  const total = high + normal + low + scheduled + running
  return { function: lane, total, running, workers }
}

/** `function TAB high TAB normal TAB low TAB workers`, queued jobs of the whole store. */
const priorityStatus: PlainHandler = async ({ scheduler }) =>
  listed(await scheduler.admin.counts(), (some) =>
    formatPriorityStatus(
      some.map((row) => ({ ...row, function: row.lane, normal: row.normal + row.scheduled })),
    ),
  )

/** A list that is made in pieces, between which others have their turn. */
async function listed<Row>(
  rows: readonly Row[],
  format: (some: readonly Row[]) => string,
): Promise<string> {
  const pieces: string[] = []
  for (let at = 0; at + rowsPerTurn < rows.length; at += rowsPerTurn) {
    pieces.push(format(rows.slice(at, at + rowsPerTurn)).slice(0, -listEnd.length))
    await nextTurn()
  }
  const last = rows.slice(pieces.length * rowsPerTurn)
  return pieces.join('') + format(last)
}

/** `number address id : functions`, a line for each connection to this node. */
const workers: PlainHandler = ({ context }) =>
  formatWorkers(
    Array.from(context.sessions, ({ number, peer, clientId, worker }) => {
      const { functions } = worker
      return { fd: number, address: peer.address, id: clientId, functions }
    }),
  )

/** `handle TAB retries TAB ignored TAB queued`: the last is 1 for a background job, as in gearmand. */
const showJobs: PlainHandler = async (session) => {
  const jobs = await session.scheduler.admin.listJobs(mostShown)
  return formatShowJobs(
    jobs.map((job) => ({
      handle: session.context.handles.of(job) ?? '-',
      retries: job.losses,
      ignored: job.abandoned,
      queued: !job.foreground,
    })),
  )
}

const showUniqueJobs: PlainHandler = async ({ scheduler }) =>
  formatShowUniqueJobs((await scheduler.admin.listJobs(mostShown)).map((job) => uniqueOf(job)))

function uniqueOf({ unique }: JobSummary): string {
  return Buffer.from(shownUnique(unique)).toString()
}

const handlers: { readonly [Name in AdminCommand['command']]: TextHandler<Name> } = {
  version: ({ context }) => formatVersion(context.options.version),
  verbose: ({ context }) => formatVerbose(context.options.verbosity ?? 'ERROR'),
  getpid: ({ context }) => formatPid(context.options.pid ?? process.pid),
  status,
  prioritystatus: priorityStatus,
  workers,
  'show jobs': showJobs,
  'show unique jobs': showUniqueJobs,
  'cancel job': changing(cancelJob),
  maxqueue: changing(setMaxQueue),
  'create function': changing(createFunction),
  'drop function': changing(dropFunction),
  shutdown: changing(shutDown),
  error: (_session, { reply }) => reply,
}

/** A command that changes something is not taken from everywhere. */
function changing<Command>(
  handler: (session: Session, command: Command) => string | Promise<string>,
): (session: Session, command: Command) => string | Promise<string> {
  return (session, command) => {
    if (session.context.adminAccess.allows(session.peer.address)) return handler(session, command)
    session.rejected('not_allowed')
    return ownTexts.notAllowed
  }
}

/** Commands whose replies grow with the store. */
const lists: ReadonlySet<string> = new Set([
  'status',
  'prioritystatus',
  'show jobs',
  'show unique jobs',
])

/** Answers one line of text, in its place among the replies to packets. */
export function takeLine(session: Session, line: string): void {
  const command = parseAdminLine(line)
  const handler = handlers[command.command] as TextHandler<AdminCommand['command']>
  const reply = async (): Promise<Buffer> => Buffer.from(await handler(session, command))
  const { listing } = session.context
  const turn = lists.has(command.command) ? () => listing.run(reply) : reply
  session.answerLine(turn, () => {
    session.rejected('store')
    return Buffer.from(ownTexts.storeFailed)
  })
}
