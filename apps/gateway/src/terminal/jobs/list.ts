import type { Answer } from '../api-client.ts'
import {
  type CommandContext,
  type CommandRow,
  numberOf,
  printAll,
  valuesOf,
} from '../command-row.ts'
import { shownSeconds } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'
import type { ExitName } from '../terminal-error.ts'
import { filterOptions } from './filter.ts'
import { pageSizes } from '../../api/schemas/common.ts'
import type { JobFilter } from '../../api/schemas/jobs.ts'

type Page = Answer<'listJobs'>
type Job = Page['jobs'][number]

/** Jobs that are listed by default. */
const usual = 50
const max = 1_000_000

export const listJobs: CommandRow = {
  words: ['jobs', 'list'],
  summary: 'list jobs that match all given options; without options, all jobs',
  options: [
    ...filterOptions,
    {
      ...{ name: 'limit', argument: 'n', help: `jobs that are listed (default: ${usual})` },
      range: { min: 1, max, isWhole: true },
    },
  ],
  run,
}

async function run(context: CommandContext): Promise<ExitName> {
  const { client, given, stderr, isJson, columns } = context
  const limit = numberOf(given, 'limit') ?? usual
  const filter = valuesOf(given, filterOptions) as JobFilter
  const jobs: Job[] = []
  let [lookedAt, unsearched] = [0, 0]
  let cursor: string | null | undefined
  do {
    const query = { ...filter, limit: Math.min(limit - jobs.length, pageSizes.max) }
    const page: Page = await client.call('listJobs', {
      query: { ...query, ...(cursor && { cursor }) },
    })
    jobs.push(...page.jobs)
    lookedAt += page.looked_at
    unsearched += page.unsearched
    cursor = page.cursor
  } while (cursor !== null && jobs.length < limit)
  if (jobs.length > 0)
    printAll(context, jobs, () => tableLines(columnsAt(Date.now()), jobs, columns))
  if (isJson) return jobs.length > 0 ? 'done' : 'notFound'
  if (jobs.length === 0) stderr.write(`No job matches (${lookedAt} looked at).\n`)
  if (cursor !== null) stderr.write(`There are more: --limit ${limit} was reached.\n`)
  if (unsearched > 0) stderr.write(`${unsearched} payloads are too long to be searched.\n`)
  return jobs.length > 0 ? 'done' : 'notFound'
}

/** Ages are those at a time, milliseconds since 1970. */
function columnsAt(nowMs: number): readonly Column<Job>[] {
  return [
    { title: 'job', value: ({ id }) => id },
    { title: 'state', value: ({ state }) => state },
    { title: 'function', value: (job) => job.function, mayShrink: true },
    { title: 'queue', value: ({ queue }) => queue, mayShrink: true },
    { title: 'door', value: ({ door }) => door },
    { title: 'age', value: ({ enqueued_at: at }) => ageOf(at, nowMs), isNumber: true },
    { title: 'note', value: (job) => noteOf(job, nowMs), mayShrink: true },
  ]
}

function ageOf(at: string | null, nowMs: number): string {
  return at === null ? '-' : shownSeconds(Math.max(0, nowMs - Date.parse(at)) / 1000)
}

/** The most useful detail of a job. */
function noteOf({ error, due_at: dueAt, progress, state }: Job, nowMs: number): string {
  const due =
    dueAt === null ? '' : `due in ${shownSeconds(Math.max(0, Date.parse(dueAt) - nowMs) / 1000)}`
  const failure = error === null ? '' : [error.type, error.message].filter(Boolean).join(': ')
  const percent = progress?.percent ?? null
  const done = state === 'running' && percent !== null ? `${percent.toFixed(0)} % done` : ''
  return [due, done, failure].filter((text) => text !== '').join(', ')
}
