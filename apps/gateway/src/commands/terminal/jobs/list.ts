import { failureQuery } from '../../../web/api/schemas/failures.ts'
import { type JobFilter, jobFilter } from '../../../web/api/schemas/jobs.ts'
import type { Answer, Asked } from '../api-client.ts'
import {
  type CommandContext,
  type CommandRow,
  listCommand,
  numberOf,
  printAll,
  valuesOf,
} from '../command-row.ts'
import { shownAge, shownWait } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'
import type { ExitName } from '../terminal-error.ts'
import { limitOption, optionsOf } from '../option-rows.ts'
import { rowsUpTo } from '../pages.ts'
import { pageSizes } from '../../../web/api/schemas/common.ts'

type Job = Answer<'listJobs'>['jobs'][number]
type Group = Answer<'listFailures'>['groups'][number]

/** The options that say which jobs: those of the API's filter. */
export const filterOptions = optionsOf(jobFilter)

/** Jobs that are listed by default. */
const usual = 50
const max = 1_000_000

export const listJobs: CommandRow = {
  words: ['jobs', 'list'],
  summary: 'list jobs that match all given options; without options, all jobs',
  options: [...filterOptions, limitOption('jobs that are listed', usual, max)],
  run,
}

async function run(context: CommandContext): Promise<ExitName> {
  const { client, given, stderr, isJson, columns } = context
  const limit = numberOf(given, 'limit') ?? usual
  const filter = valuesOf(given, filterOptions) as JobFilter
  let [lookedAt, unsearched] = [0, 0]
  const { rows: jobs, hasMore } = await rowsUpTo(
    limit,
    pageSizes.max,
    (query) => client.call('listJobs', { query: { ...filter, ...query } }),
    (page) => {
      lookedAt += page.looked_at
      unsearched += page.unsearched
      return page.jobs
    },
  )
  if (jobs.length > 0)
    printAll(context, jobs, () => tableLines(columnsAt(Date.now()), jobs, columns))
  if (isJson) return jobs.length > 0 ? 'done' : 'notFound'
  if (jobs.length === 0) stderr.write(`No job matches (${lookedAt} looked at).\n`)
  if (hasMore) stderr.write(`There are more: --limit ${limit} was reached.\n`)
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
    {
      title: 'age',
      value: ({ enqueued_at: at }) => (at === null ? '-' : shownAge(at, nowMs)),
      isNumber: true,
    },
    { title: 'note', value: (job) => noteOf(job, nowMs), mayShrink: true },
  ]
}

/** The most useful detail of a job. */
function noteOf({ error, due_at: dueAt, progress, state }: Job, nowMs: number): string {
  const due = dueAt === null ? '' : `due in ${shownWait(dueAt, nowMs)}`
  const failure = error === null ? '' : [error.type, error.message].filter(Boolean).join(': ')
  const percent = progress?.percent ?? null
  const done = state === 'running' && percent !== null ? `${percent.toFixed(0)} % done` : ''
  return [due, done, failure].filter((text) => text !== '').join(', ')
}

const failureOptions = optionsOf(failureQuery, ['cursor', 'limit'])

export const listFailures: CommandRow = listCommand({
  words: ['jobs', 'failures'],
  summary: 'list failed jobs by the kind and first line of their error, the most frequent first',
  options: failureOptions,
  columns: [
    { title: 'jobs', value: ({ jobs }) => jobs, isNumber: true },
    { title: 'error', value: ({ type }) => type || '-', mayShrink: true },
    { title: 'first line', value: ({ line }) => line || '-', mayShrink: true },
    { title: 'functions', value: ({ functions }) => functions.join(','), mayShrink: true },
    { title: 'example', value: ({ example }) => example },
  ],
  entries: failuresOf,
})

async function failuresOf({
  client,
  given,
  isJson,
  stderr,
}: CommandContext): Promise<readonly Group[]> {
  const filter = valuesOf(given, failureOptions) as NonNullable<Asked<'listFailures'>['query']>
  const query = { ...filter, limit: pageSizes.max }
  let page: Answer<'listFailures'>
  do {
    page = await client.call('listFailures', { query })
  } while (!page.is_current && page.looked_at > 0)
  const { groups, jobs, counted, ungrouped } = page
  if (isJson) return groups
  if (groups.length === 0) stderr.write('No failed job.\n')
  const uncounted = jobs - counted
  if (uncounted > 0) stderr.write(`Of ${jobs} jobs ${uncounted} more are not counted.\n`)
  if (ungrouped > 0) stderr.write(`${ungrouped} jobs have errors beyond those that are listed.\n`)
  return groups
}
