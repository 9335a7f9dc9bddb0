import { pageSizes } from '../../../web/api/schemas/common.ts'
import { failureQuery } from '../../../web/api/schemas/failures.ts'
import { jobFilter } from '../../../web/api/schemas/jobs.ts'
import type { Answer, Asked } from '../api-client.ts'
import { listCommand } from '../call-command.ts'
import { type CommandContext, type CommandRow, valuesOf } from '../command-row.ts'
import { optionsOf } from '../option-rows.ts'
import { shownAge, shownWait } from '../shown-text.ts'
import type { Column } from '../table.ts'

type Job = Answer<'listJobs'>['jobs'][number]

/** The options that say which jobs: those of the API's filter. */
export const filterOptions = optionsOf(jobFilter)

const columns: readonly Column<Job>[] = [
  { title: 'job', value: ({ id }) => id },
  { title: 'state', value: ({ state }) => state },
  { title: 'function', value: (job) => job.function, mayShrink: true },
  { title: 'queue', value: ({ queue }) => queue, mayShrink: true },
  { title: 'door', value: ({ door }) => door },
  {
    title: 'age',
    value: ({ enqueued_at: at }, nowMs) => (at === null ? '-' : shownAge(at, nowMs)),
    isNumber: true,
  },
  { title: 'note', value: noteOf, mayShrink: true },
]

export const listJobs: CommandRow = listCommand('listJobs', {
  summary: 'list jobs that match all given options; without options, all jobs',
  options: filterOptions,
  limit: { what: 'jobs that are listed', max: 1_000_000 },
  rows: ({ jobs }) => jobs,
  columns,
  none: (pages) => {
    const lookedAt = pages.reduce((sum, page) => sum + page.looked_at, 0)
    return `No job matches (${lookedAt} looked at).`
  },
  notes: (pages) => {
    const unsearched = pages.reduce((sum, page) => sum + page.unsearched, 0)
    return unsearched > 0 ? [`${unsearched} payloads are too long to be searched.`] : []
  },
})

/** The most useful detail of a job. */
function noteOf({ error, due_at: dueAt, progress, state }: Job, nowMs: number): string {
  const due = dueAt === null ? '' : `due in ${shownWait(dueAt, nowMs)}`
  const failure = error === null ? '' : [error.type, error.message].filter(Boolean).join(': ')
  const percent = progress?.percent ?? null
  const done = state === 'running' && percent !== null ? `${percent.toFixed(0)} % done` : ''
  return [due, done, failure].filter((text) => text !== '').join(', ')
}

const failureOptions = optionsOf(failureQuery, ['cursor', 'limit'])

export const listFailures: CommandRow = listCommand('listFailures', {
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
  rows: ({ groups }) => groups,
  none: () => 'No failed job.',
  notes: ([page]) => (page ? uncountedOf(page) : []),
  find: failuresOf,
})

/** The groups of failed jobs. Each call of the API reads on, until the errors of all have been read. */
async function failuresOf({ client, given }: CommandContext) {
  const filter = valuesOf(given, failureOptions) as NonNullable<Asked<'listFailures'>['query']>
  const query = { ...filter, limit: pageSizes.max }
  let page: Answer<'listFailures'>
  do {
    page = await client.call('listFailures', { query })
  } while (!page.is_current && page.looked_at > 0)
  return { rows: page.groups, pages: [page], hasMore: false }
}

function uncountedOf({ jobs, counted, ungrouped }: Answer<'listFailures'>): readonly string[] {
  const uncounted = jobs - counted
  return [
    ...(uncounted > 0 ? [`Of ${jobs} jobs ${uncounted} more are not counted.`] : []),
    ...(ungrouped > 0 ? [`${ungrouped} jobs have errors beyond those that are listed.`] : []),
  ]
}
