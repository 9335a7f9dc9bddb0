import type { Answer } from '../api-client.ts'
import { actCommand, type CommandRow, listCommand, numberOf, say } from '../command-row.ts'
import { limitOption } from '../option-rows.ts'
import { shownName } from '../shown-text.ts'
import type { Column } from '../table.ts'

type Entry = Answer<'listCron'>['cron'][number]
type Batch = Answer<'getBatch'>

const cronColumns: readonly Column<Entry>[] = [
  { title: 'entry', value: ({ name }) => name, mayShrink: true },
  { title: 'schedule', value: ({ schedule }) => schedule },
  { title: 'timezone', value: ({ timezone }) => timezone },
  { title: 'last run', value: (row) => row.last_run ?? '-' },
  { title: 'next run', value: (row) => row.next_run ?? '-' },
  { title: 'state', value: (row) => (row.is_paused ? 'paused' : '') },
]

const cronNames = { name: 'entry', help: 'cron entries', isRequired: true, isMany: true } as const

export const cronCommands: readonly CommandRow[] = [
  listCommand({
    words: ['cron', 'list'],
    isDefault: true,
    summary: 'list cron jobs',
    columns: cronColumns,
    none: 'There is no cron entry.',
    entries: async ({ client }) => (await client.call('listCron')).cron,
  }),
  {
    words: ['cron', 'run'],
    summary: 'push the job of an entry now; its schedule goes on as before',
    arguments: [{ name: 'entry', help: 'a cron entry', isRequired: true }],
    run: async (context) => {
      const [entry = ''] = context.given.names
      const answer = await context.client.call('runCron', { body: { entry } })
      return say(context, answer, () => [`${shownName(entry)}: pushed as job ${answer.job}.`])
    },
  },
  actCommand(
    'pauseCron',
    cronNames,
    'let the ticks of entries push nothing, at all gateways',
    'paused',
  ),
  actCommand(
    'resumeCron',
    cronNames,
    'let entries push jobs again, from their next tick on',
    'resumed',
  ),
]

/** Batches that are listed by default, and at most. */
const listed = { usual: 50, max: 1_000 } as const

const batchColumns: readonly Column<Batch>[] = [
  { title: 'batch', value: ({ batch }) => batch },
  { title: 'created', value: (row) => row.created_at ?? '-' },
  { title: 'jobs', value: ({ total }) => total, isNumber: true },
  { title: 'pending', value: ({ pending }) => pending, isNumber: true },
  { title: 'failed', value: ({ failed }) => failed, isNumber: true },
  { title: 'complete', value: ({ complete }) => complete },
  { title: 'success', value: ({ success }) => success },
  { title: 'description', value: ({ description }) => description, mayShrink: true },
]

export const batchCommands: readonly CommandRow[] = [
  listCommand({
    words: ['batches', 'list'],
    summary: 'list Faktory batches, the newest first',
    options: [limitOption('batches that are listed', listed.usual, listed.max)],
    columns: batchColumns,
    none: 'There is no batch.',
    entries: async ({ client, given }) => {
      const limit = numberOf(given, 'limit') ?? listed.usual
      return (await client.call('listBatches', { query: { limit } })).batches
    },
  }),
  {
    words: ['batches', 'show'],
    summary: 'show the progress of a batch',
    arguments: [{ name: 'batch', help: 'the bid that BATCH NEW returned', isRequired: true }],
    run: async (context) => {
      const [name = ''] = context.given.names
      const batch = await context.client.call('getBatch', { params: { batch: name } })
      return say(context, batch, () =>
        Object.entries(batch).map(
          ([key, value]) => `${key.padEnd(12)} ${shownName(String(value ?? '-'))}`,
        ),
      )
    },
  },
]
