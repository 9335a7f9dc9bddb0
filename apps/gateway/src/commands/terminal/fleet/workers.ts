import { pageSizes } from '../../../web/api/schemas/common.ts'
import { workerQuery } from '../../../web/api/schemas/fleet.ts'
import type { Answer, Asked } from '../api-client.ts'
import { callCommand, listedRows } from '../call-command.ts'
import {
  type CommandContext,
  type CommandRow,
  numberOf,
  printAll,
  valuesOf,
} from '../command-row.ts'
import { limitOption, optionsOf } from '../option-rows.ts'
import { rowsUpTo } from '../pages.ts'
import { shownAge, shownName, shownSeconds } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'
import type { ExitName } from '../terminal-error.ts'

type Workers = Answer<'listWorkers'>
type Worker = Workers['workers'][number]
type Held = Worker['jobs'][number]

/** Workers that are listed at most. */
const max = 100_000

const filterOptions = optionsOf(workerQuery, ['limit', 'cursor'])

const byFunction: readonly Column<Workers['functions'][number]>[] = [
  { title: 'function', value: (row) => row.function, mayShrink: true },
  { title: 'door', value: ({ door }) => door },
  { title: 'idle', value: ({ idle }) => idle, isNumber: true },
  { title: 'busy', value: ({ busy }) => busy, isNumber: true },
]

const byQueue: readonly Column<Workers['queues'][number]>[] = [
  { title: 'queue', value: ({ queue }) => queue, mayShrink: true },
  { title: 'idle', value: ({ idle }) => idle, isNumber: true },
  { title: 'busy', value: ({ busy }) => busy, isNumber: true },
]

/** A line for each job of a worker, and one for a worker without; a further job names its worker no more. */
interface Line {
  readonly worker?: Worker
  readonly job?: Held
}

const of =
  (value: (worker: Worker) => string | number) =>
  ({ worker }: Line) =>
    worker ? value(worker) : ''

const ofJob =
  (value: (job: Held, nowMs: number) => string | number) =>
  ({ job }: Line, nowMs: number) =>
    job ? value(job, nowMs) : ''

const columns: readonly Column<Line>[] = [
  { title: 'worker', value: of(({ worker }) => worker), mayShrink: true, min: 14 },
  { title: 'calls itself', value: of(({ name }) => name || '-'), mayShrink: true },
  { title: 'host', value: of(hostOf), mayShrink: true, min: 12 },
  { title: 'pid', value: of(({ pid }) => pid ?? '-'), isNumber: true, rank: 1 },
  { title: 'state', value: of(({ state }) => state), rank: 3 },
  { title: 'works on', value: of(worksOn), mayShrink: true },
  { title: 'beat', value: of(beatOf), isNumber: true, rank: 2 },
  { title: 'jobs', value: of((worker) => worker.jobs_total), isNumber: true },
  { title: 'job', value: ofJob(({ id }) => id) },
  { title: 'function', value: ofJob((job) => job.function), mayShrink: true },
  { title: 'for', value: ofJob(({ since }, nowMs) => shownAge(since, nowMs)), isNumber: true },
  { title: 'progress', value: ofJob(progressOf), mayShrink: true, rank: 0 },
]

function hostOf({ hostname, address }: Worker): string {
  return hostname ?? address ?? '-'
}

function worksOn({ functions, queues }: Worker): string {
  return [...functions, ...queues].join(',') || '-'
}

function beatOf({ seconds_since_beat: seconds }: Worker): string {
  return seconds === null ? '-' : `${shownSeconds(seconds)} ago`
}

export function progressOf({ progress }: Pick<Held, 'progress'>): string {
  if (!progress) return ''
  const { percent, done, total, note } = progress
  const share = percent === null ? `${done ?? '?'} of ${total ?? '?'}` : `${percent.toFixed(0)} %`
  return note === null ? share : `${share}, ${note}`
}

export const workerCommands: readonly CommandRow[] = [
  {
    words: ['workers', 'list'],
    isDefault: true,
    summary: 'list the workers of all gateways with their jobs; by function, by queue, one by one',
    options: [...filterOptions, limitOption('workers that are listed', listedRows, max)],
    run: list,
  },
  callCommand('getWorker', {
    summary: 'show one worker with its jobs',
    arguments: [{ name: 'worker', help: 'its id, as workers list has it', isRequired: true }],
    options: [limitOption('jobs that are shown', listedRows, pageSizes.max)],
    lines: ({ jobs, cursor, ...plain }, context) => {
      const rows = Object.entries(plain).flatMap(([name, value]) => {
        const text = Array.isArray(value) ? value.join(', ') : value === null ? '' : String(value)
        return text === '' ? [] : [`${name.padEnd(18)}  ${shownName(text)}`]
      })
      if (jobs.length === 0) return rows
      const held = jobs.map((job) => ({ job }))
      const limit = numberOf(context.given, 'limit') ?? listedRows
      const more = cursor === null ? [] : [`There are more: --limit ${limit} was reached.`]
      return [...rows, '', ...tableLines(columns.slice(-4), held, context.columns), ...more]
    },
  }),
]

async function list(context: CommandContext): Promise<ExitName> {
  const { client, given, stderr, isJson } = context
  const limit = numberOf(given, 'limit') ?? listedRows
  const filter = valuesOf(given, filterOptions) as NonNullable<Asked<'listWorkers'>['query']>
  const { rows: workers, first } = await rowsUpTo(
    limit,
    pageSizes.max,
    (query) => client.call('listWorkers', { query: { ...filter, ...query } }),
    (page) => page.workers,
  )
  const parts = [
    first.functions.length > 0 && tableLines(byFunction, first.functions, context.columns),
    first.queues.length > 0 && tableLines(byQueue, first.queues, context.columns),
    workers.length > 0 && workerLines(workers, context.columns),
  ].filter((lines) => lines !== false)
  printAll(context, [{ ...first, workers, cursor: undefined }], () =>
    parts.flatMap((lines, at) => (at > 0 ? ['', ...lines] : lines)),
  )
  for (const node of first.silent_nodes) {
    stderr.write(`The gateway ${shownName(node)} does not answer: its workers are not listed.\n`)
  }
  if (!isJson && workers.length === 0) stderr.write('No worker is connected, or none fits.\n')
  if (!isJson && workers.length < first.total && workers.length > 0) {
    stderr.write(`There are more: ${first.total} workers, --limit ${limit} was reached.\n`)
  }
  return workers.length > 0 ? 'done' : 'notFound'
}

function workerLines(workers: readonly Worker[], width: number): readonly string[] {
  const lines = workers.flatMap((worker): Line[] => {
    const [first, ...others] = worker.jobs
    return [{ worker, ...(first && { job: first }) }, ...others.map((job) => ({ job }))]
  })
  return tableLines(columns, lines, width)
}
