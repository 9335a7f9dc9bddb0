import { pageSizes } from '../../../web/api/schemas/common.ts'
import type { Answer, ApiClient, Asked } from '../api-client.ts'
import type { ArgumentRow } from '../../../config/option-row.ts'
import { rowsUpTo } from '../pages.ts'
import { shownName } from '../shown-text.ts'
import { TerminalError } from '../terminal-error.ts'

export type Detail = Answer<'getJob'>
type Query = NonNullable<Asked<'getJob'>['query']>

/** The names that every command takes for a job. */
export const jobNames = 'id, Gearman handle, Faktory jid or Gearman unique id'

/** The argument of a command for one job. */
export const jobArgument: ArgumentRow = {
  name: 'job',
  help: `its ${jobNames}`,
  isRequired: true,
}

/** Jobs of one unique id that are shown: each function may have one that waits or runs, and dead ones. */
const maxOfUnique = 100

/** The ids of the unfinished jobs with a unique id, else of the dead ones, which are in no index. */
async function idsOfUnique(client: ApiClient, unique: string): Promise<readonly string[]> {
  const { jobs } = await client.call('listJobs', { query: { unique } })
  if (jobs.length > 0) return jobs.map(({ id }) => id)
  const { rows } = await rowsUpTo(
    maxOfUnique,
    pageSizes.max,
    (query) => client.call('listJobs', { query: { unique, state: 'dead', ...query } }),
    (page) => page.jobs.map(({ id }) => id),
  )
  return rows
}

/** The job of that name, else all jobs with that unique id. */
export async function jobsNamed(
  client: ApiClient,
  name: string,
  query: Query = { payload: 'none' },
): Promise<readonly Detail[]> {
  const detail = (job: string): Promise<Detail> => client.call('getJob', { params: { job }, query })
  try {
    return [await detail(name)]
  } catch (error) {
    if (!(error instanceof TerminalError) || error.exit !== 'notFound') throw error
  }
  const ids = await idsOfUnique(client, name)
  return Promise.all(ids.map(detail))
}

/**
 * The id of the only job with a unique id; undefined where there is none.
 *
 * @throws TerminalError where several jobs have it: then nobody knows which one is meant.
 */
export async function onlyOfUnique(client: ApiClient, name: string): Promise<string | undefined> {
  const ids = await idsOfUnique(client, name)
  if (ids.length > 1) throw severalJobs(name, ids)
  return ids[0]
}

/**
 * The one job that is meant by a name.
 *
 * @throws TerminalError where there is none, or several have it as their unique id.
 */
export async function jobNamed(client: ApiClient, name: string, query?: Query): Promise<Detail> {
  const [job, ...others] = await jobsNamed(client, name, query)
  if (!job) throw new TerminalError('notFound', noJob(name))
  if (others.length === 0) return job
  throw severalJobs(
    name,
    [job, ...others].map(({ id }) => id),
  )
}

/** The line that says that no job has a name. */
export function noJob(name: string): string {
  const why = 'it has ended and is not kept, or no gateway on this store has accepted it'
  return `No job is called ${shownName(name)}: ${why}.`
}

/** The error where several jobs have a name. */
function severalJobs(name: string, ids: readonly string[]): TerminalError {
  const some = ids.slice(0, 5).join(', ') + (ids.length > 5 ? ' and more' : '')
  const what = `${shownName(name)} is the unique id of several jobs (${some})`
  return new TerminalError(
    'usage',
    `${what}: name one of these, or give --unique where all are meant.`,
  )
}
