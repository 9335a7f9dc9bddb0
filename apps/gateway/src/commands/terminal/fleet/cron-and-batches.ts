import type { Answer } from '../api-client.ts'
import { pageSizes } from '../../../web/api/schemas/common.ts'
import { actCommand, callCommand, listCommand } from '../call-command.ts'
import type { CommandRow } from '../command-row.ts'
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
  listCommand('listCron', {
    isDefault: true,
    summary: 'list cron jobs',
    rows: ({ cron }) => cron,
    columns: cronColumns,
    none: () => 'There is no cron entry.',
  }),
  callCommand('runCron', {
    arguments: [{ name: 'entry', help: 'a cron entry', isRequired: true }],
    lines: ({ job }, { given }) => [`${shownName(given.names[0] ?? '')}: pushed as job ${job}.`],
  }),
  actCommand(
    'pauseCron',
    cronNames,
    'paused',
    'let the ticks of entries push nothing, at all gateways',
  ),
  actCommand('resumeCron', cronNames, 'resumed'),
]

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
  listCommand('listBatches', {
    summary: 'list Faktory batches, the newest first',
    limit: { what: 'batches that are listed', max: pageSizes.max },
    rows: ({ batches }) => batches,
    columns: batchColumns,
    none: () => 'There is no batch.',
  }),
  callCommand('getBatch', {
    summary: 'show the progress of a batch',
    arguments: [{ name: 'batch', help: 'the bid that BATCH NEW returned', isRequired: true }],
    lines: (batch) =>
      Object.entries(batch).map(
        ([key, value]) => `${key.padEnd(12)} ${shownName(String(value ?? '-'))}`,
      ),
  }),
]
