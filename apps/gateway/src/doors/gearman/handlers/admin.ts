import { setImmediate as nextTurn } from 'node:timers/promises'
import { type JobSummary, type LaneSizes, functionFault } from '@crossgear/core-scheduler'
import {
  type AdminCommand,
  adminReplies,
  formatInvalidArguments,
  formatPid,
  formatPriorityStatus,
  formatShowJobs,
  formatShowMaxQueue,
  formatShowUniqueJobs,
  formatStatus,
  formatVerbose,
  formatVersion,
  formatWorkers,
  parseAdminLine,
} from '@crossgear/gearman-codec'
import { ownTexts, storeFailedLine } from '../replies.ts'
import type { Session } from '../session.ts'
import { shownUnique } from '../translate.ts'

/** Handles a text command; the reply includes its line ends. */
type TextHandler<Name extends AdminCommand['command']> = (
  session: Session,
  command: Extract<AdminCommand, { command: Name }>,
) => string | Promise<string>

type PlainHandler = (session: Session) => string | Promise<string>

/** Most jobs in the answer to `show`; the rest is left out. */
const maxShown = 100_000

/** Rows per turn of the event loop, about a millisecond's work. */
const rowsPerTurn = 2_000
const listEnd = '.\n'

/** `function TAB total TAB running TAB workers`, over the whole store. */
const status: PlainHandler = async ({ scheduler }) =>
  listed(await scheduler.admin.sizes(), (some) => formatStatus(some.map(statusRow)))

/** Scheduled jobs count as queued, as in gearmand. */
function statusRow({ lane, high, normal, low, scheduled, running, workers }: LaneSizes) {
  const total = high + normal + low + scheduled + running
  return { function: lane, total, running, workers }
}

/** `function TAB high TAB normal TAB low TAB workers`, queued jobs of the whole store. */
const priorityStatus: PlainHandler = async ({ scheduler }) =>
  listed(await scheduler.admin.sizes(), (some) =>
    formatPriorityStatus(
      some.map((row) => ({ ...row, function: row.lane, normal: row.normal + row.scheduled })),
    ),
  )

/** Makes a list in pieces and lets other work pass in between. */
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

/** `number address id : functions`, a line per connection to this node. */
const workers: PlainHandler = ({ context }) =>
  formatWorkers(
    Array.from(context.sessions, ({ number, connection, clientId, worker }) => {
      const { functions } = worker
      return { fd: number, address: connection.address, id: clientId, functions }
    }),
  )

/**
 * `handle TAB retries TAB ignored TAB queued`: the last is 1 for a background job, as in gearmand.
 */
const showJobs: PlainHandler = async (session) => {
  const jobs = await session.scheduler.admin.listJobs(maxShown)
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
  formatShowUniqueJobs((await scheduler.admin.listJobs(maxShown)).map((job) => uniqueOf(job)))

function uniqueOf({ unique }: JobSummary): string {
  return Buffer.from(shownUnique(unique)).toString()
}

/** `function TAB high TAB normal TAB low TAB waiting TAB refused`, of each function with a limit. */
const showMaxQueue: PlainHandler = async ({ scheduler: { admin, registry, routes } }) => {
  const limited = new Map(await admin.limited())
  const none = { high: 0, normal: 0, low: 0 }
  for (const [fn, { maxWaiting, needsWorker }] of routes) {
    const hasLimit = maxWaiting !== undefined || needsWorker
    if (hasLimit && !limited.has(fn)) limited.set(fn, none)
  }
  return formatShowMaxQueue(
    [...limited].map(([lane, limits]) => {
      const { maxWaiting = 0, needsWorker = false } =
        routes.get(registry.names.parse(lane).fn) ?? {}
      return { ...limits, function: lane, waiting: maxWaiting, needsWorker }
    }),
  )
}

const handlers: { readonly [Name in AdminCommand['command']]: TextHandler<Name> } = {
  version: ({ context }) => formatVersion(context.options.version),
  verbose: ({ context }) => formatVerbose(context.options.verbosity ?? 'ERROR'),
  getpid: () => formatPid(process.pid),
  status,
  prioritystatus: priorityStatus,
  workers,
  'show jobs': showJobs,
  'show unique jobs': showUniqueJobs,
  'show maxqueue': showMaxQueue,
  'cancel job': changing(cancelJob),
  maxqueue: changing(setMaxQueue),
  'create function': changing(createFunction),
  'drop function': changing(dropFunction),
  shutdown: changing(shutDown),
  error: (_session, { reply }) => reply,
}

/** Commands that change something are taken from permitted addresses only. */
function changing<Command extends AdminCommand>(
  handler: (session: Session, command: Command) => string | Promise<string>,
): (session: Session, command: Command) => string | Promise<string> {
  return async (session, command) => {
    const { context, connection } = session
    if (!context.adminAccess.allows(connection.address)) {
      session.rejected('not_allowed')
      return ownTexts.notAllowed
    }
    const reply = await handler(session, command)
    if (reply === adminReplies.ok) {
      const { command: operation, ...words } = command
      const act = { door: 'gearman', address: connection.address, operation }
      await context.options.acted?.({ ...act, target: JSON.stringify(words) })
    }
    return reply
  }
}

/** Commands with replies that grow with the store. */
const lists: ReadonlySet<string> = new Set([
  'status',
  'prioritystatus',
  'show jobs',
  'show unique jobs',
  'show maxqueue',
])

/** Answers a line of text, in its turn among the replies to packets. */
export function takeLine(session: Session, line: string): void {
  const command = parseAdminLine(line)
  const handler = handlers[command.command] as TextHandler<AdminCommand['command']>
  const reply = async (): Promise<Buffer> => Buffer.from(await handler(session, command))
  const { listing } = session.context
  const turn = lists.has(command.command) ? () => listing.run(reply) : reply
  session.answerLine(turn, (text) => Buffer.from(storeFailedLine(text)))
}

type Command<Name extends AdminCommand['command']> = Extract<AdminCommand, { command: Name }>

/** `cancel job HANDLE`: queued or running; its clients get a failure. */
export async function cancelJob(session: Session, { handle }: Command<'cancel job'>) {
  const named = session.context.handles.parse(handle)
  // The job may have been moved to another lane.
  const ref = named && ((await session.scheduler.jobs.look(named)) ?? named)
  const cancelled = ref !== undefined && (await session.scheduler.admin.cancel(ref))
  if (!cancelled) return adminReplies.unknownJob
  const { sessions, handles } = session.context
  const shown = handles.of(ref)
  if (shown !== undefined) for (const { worker } of sessions) worker.cancelled(shown)
  return adminReplies.ok
}

/** `maxqueue FUNCTION [SIZE | HIGH NORMAL LOW]`: for a known function. */
export async function setMaxQueue({ scheduler }: Session, command: Command<'maxqueue'>) {
  const { function: name, high, normal, low } = command
  if (functionFault(name) === undefined) {
    const lane = scheduler.registry.names.canonical(name)
    await scheduler.admin.setLimits(lane, { high, normal, low })
  }
  return adminReplies.ok
}

/** Stands in a line of text for bytes that are not UTF-8. */
const notUtf8 = '\ufffd'

/** `create function NAME`: lists it from now on. */
export async function createFunction({ scheduler }: Session, command: Command<'create function'>) {
  const name = command.function
  if (name.includes(notUtf8) || functionFault(name) !== undefined)
    return formatInvalidArguments('create')
  await scheduler.admin.addLane(scheduler.registry.names.canonical(name))
  return adminReplies.ok
}

const dropReplies = {
  dropped: adminReplies.ok,
  unknown: adminReplies.functionNotFound,
  busy: adminReplies.functionInUse,
} as const

/** `drop function NAME`, with its queued jobs; refused while it has workers or running jobs. */
export async function dropFunction({ scheduler }: Session, command: Command<'drop function'>) {
  const { function: name } = command
  if (functionFault(name) !== undefined) return dropReplies.unknown
  return dropReplies[await scheduler.admin.dropLane(scheduler.registry.names.canonical(name))]
}

/** `shutdown [graceful]`. */
export function shutDown({ context }: Session, { graceful }: Command<'shutdown'>): string {
  context.options.shutdown?.(graceful)
  return adminReplies.ok
}
