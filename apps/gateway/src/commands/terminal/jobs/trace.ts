import { type CommandContext, type CommandRow, printAll } from '../command-row.ts'
import { mendedBy, waitWords } from '../lanes/columns.ts'
import { shownName, shownWait } from '../shown-text.ts'
import type { ExitName } from '../terminal-error.ts'
import { type Detail, jobArgument, jobsNamed, noJob } from './named.ts'

/** One thing that happened to a job, or that is to come. */
interface TraceLine {
  /** RFC 3339, or null where nobody noted it. */
  readonly at: string | null
  readonly what: string
}

export const traceJob: CommandRow = {
  words: ['jobs', 'trace'],
  summary: 'tell what happened to a job, where it is now, and what comes next',
  arguments: [jobArgument],
  run,
}

async function run(context: CommandContext): Promise<ExitName> {
  const name = context.given.names[0] ?? ''
  const jobs = await jobsNamed(context.client, name)
  const nowMs = Date.now()
  const traces = jobs.map((job) => ({ job: namesOf(job), events: eventsOf(job, nowMs) }))
  printAll(context, traces, () => traces.flatMap(({ job, events }) => [job, ...table(events)]))
  if (jobs.length > 0) return 'done'
  context.stderr.write(`${noJob(name)}\n`)
  return 'notFound'
}

function namesOf({ id, handle, jid, unique, function: fn, queue }: Detail): string {
  const names = [
    ['job', id],
    ['handle', handle],
    ['jid', jid],
    ['unique id', unique],
    ['function', fn],
    ['queue', queue],
  ]
  return names
    .flatMap(([title, name]) => (name ? [`${title ?? ''} ${shownName(name)}`] : []))
    .join(', ')
}

/** In the order of time; then what has no time; the last lines are where it is, and what comes next. */
function eventsOf(job: Detail, nowMs: number): readonly TraceLine[] {
  const { enqueued_at: cameAt, door, level, attempts, lost_workers: lost, progress } = job
  const { waiting_clients: clients, moved_at: movedAt, requeued_at: requeuedAt } = job
  const dated = [
    ...(job.resubmitted_from === null
      ? []
      : [{ at: cameAt, what: `as another run of ${job.resubmitted_from}` }]),
    ...(movedAt === null
      ? []
      : [
          {
            at: movedAt,
            what: `moved by an operator to queue ${job.queue}: it was ${job.moved_from ?? ''}`,
          },
        ]),
    ...attempts.map(({ at, type, message }) => ({
      at: at === null ? null : new Date(at).toISOString(),
      what: `failed: ${[type, message].filter(Boolean).join(': ')}`,
    })),
    ...(requeuedAt === null ? [] : [{ at: requeuedAt, what: 'put into its queue by an operator' }]),
    ...(progress?.noted_at
      ? [{ at: progress.noted_at, what: 'its worker told its progress' }]
      : []),
  ]
  return [
    { at: cameAt, what: `came by ${door}, level ${level}` },
    ...dated.toSorted((one, other) => Date.parse(one.at ?? '') - Date.parse(other.at ?? '') || 0),
    ...(lost > 0 ? [{ at: null, what: `workers that vanished while they had it: ${lost}` }] : []),
    { at: sinceOf(job), what: places[job.state](job, nowMs) },
    ...(clients > 0 ? [{ at: null, what: `clients that wait for its end: ${clients}` }] : []),
  ]
}

/** When it came to where it is; null where nobody noted it. */
function sinceOf(job: Detail): string | null {
  switch (job.state) {
    case 'waiting':
      return job.queued_at
    case 'scheduled':
      return job.moved_at ?? job.enqueued_at
    case 'retry':
      return job.attempts.at(-1)?.at ?? null
    case 'running':
      return job.held_by?.since ?? null
    default:
      return job.ended_at
  }
}

const places: Readonly<Record<Detail['state'], (job: Detail, nowMs: number) => string>> = {
  waiting: (job) => `waits in queue ${job.queue}: ${waitWords(job)}${mendedBy(job)}`,
  scheduled: (job) => `waits in queue ${job.queue}: ${waitWords(job)}${mendedBy(job)}`,
  retry: (job) => `waits in queue ${job.queue}: ${waitWords(job)}${mendedBy(job)}`,
  running: (job, nowMs) =>
    job.waits_for
      ? `runs at ${workerOf(job)}: ${waitWords(job)}`
      : `runs at ${workerOf(job)}${leaseOf(job, nowMs)}`,
  dead: ({ id, forgotten_at: at }, nowMs) =>
    `is dead, and forgotten${inTime(at, nowMs)}: crossgear jobs retry ${id} runs it again`,
  succeeded: () => 'has succeeded; its result is kept for a while',
  failed: () => 'has failed; its error is kept for a while',
}

function inTime(at: string | null, nowMs: number): string {
  return at === null ? '' : ` in ${shownWait(at, nowMs)}, at ${at}`
}

function workerOf({ held_by: holder }: Detail): string {
  if (!holder) return 'a worker'
  const { kind, node, node_answers: answers, worker } = holder
  const name = worker ? ` ${worker.worker}${worker.name ? ` (${worker.name})` : ''}` : ''
  const of = node === null || worker ? '' : ` of gateway ${node}`
  return `${kind}${name}${of}${answers === false ? ', whose gateway does not answer' : ''}`
}

function leaseOf({ reserved_until: at }: Detail, nowMs: number): string {
  return at === null ? '' : `; its lease ends${inTime(at, nowMs)}`
}

function table(events: readonly TraceLine[]): readonly string[] {
  const width = Math.max(...events.map(({ at }) => at?.length ?? 0))
  return events.map(({ at, what }) => `  ${(at ?? '-').padEnd(width)}  ${shownName(what)}`)
}
