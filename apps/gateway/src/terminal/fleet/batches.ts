import type { Answer } from '../api-client.ts'
import { type CommandRow, numberOf, printAll } from '../command-row.ts'
import { shownName } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'

type Batch = Answer<'getBatch'>

/** Batches that are listed by default, and at most. */
const listed = { usual: 50, max: 1_000 } as const

const columns: readonly Column<Batch>[] = [
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
  {
    words: ['batches', 'list'],
    summary: 'list Faktory batches, the newest first',
    options: [
      {
        ...{
          name: 'limit',
          argument: 'n',
          help: `batches that are listed (default: ${listed.usual})`,
        },
        range: { min: 1, max: listed.max, isWhole: true },
      },
    ],
    run: async (context) => {
      const limit = numberOf(context.given, 'limit') ?? listed.usual
      const { batches } = await context.client.call('listBatches', { query: { limit } })
      if (batches.length === 0) {
        if (!context.isJson) context.stderr.write('There is no batch.\n')
        return 'notFound'
      }
      printAll(context, batches, () => tableLines(columns, batches, context.columns))
      return 'done'
    },
  },
  {
    words: ['batches', 'show'],
    summary: 'show the progress of a batch',
    arguments: [{ name: 'batch', help: 'the bid that BATCH NEW returned', isRequired: true }],
    run: async (context) => {
      const [name = ''] = context.given.names
      const batch = await context.client.call('getBatch', { params: { batch: name } })
      printAll(context, [batch], () =>
        Object.entries(batch).map(
          ([key, value]) => `${key.padEnd(12)} ${shownName(String(value ?? '-'))}`,
        ),
      )
      return 'done'
    },
  },
]
