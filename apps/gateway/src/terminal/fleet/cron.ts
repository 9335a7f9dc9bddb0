import type { Answer } from '../api-client.ts'
import { type CommandRow, printAll } from '../command-row.ts'
import { shownName } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'

type Entry = Answer<'listCron'>['cron'][number]

const columns: readonly Column<Entry>[] = [
  { title: 'entry', value: ({ name }) => name, mayShrink: true },
  { title: 'schedule', value: ({ schedule }) => schedule },
  { title: 'timezone', value: ({ timezone }) => timezone },
  { title: 'last run', value: (row) => row.last_run ?? '-' },
  { title: 'next run', value: (row) => row.next_run ?? '-' },
  { title: 'state', value: (row) => (row.is_paused ? 'paused' : '') },
]

const names = { name: 'entry', help: 'cron entries', isRequired: true, isMany: true } as const

export const cronCommands: readonly CommandRow[] = [
  {
    words: ['cron', 'list'],
    isDefault: true,
    summary: 'list the jobs that are pushed by the clock',
    run: async (context) => {
      const { cron } = await context.client.call('listCron')
      if (cron.length === 0) {
        if (!context.isJson) context.stderr.write('There is no cron entry.\n')
        return 'notFound'
      }
      printAll(context, cron, () => tableLines(columns, cron, context.columns))
      return 'done'
    },
  },
  {
    words: ['cron', 'run'],
    summary: 'push the job of an entry now; its schedule goes on as before',
    arguments: [{ name: 'entry', help: 'a cron entry', isRequired: true }],
    run: async (context) => {
      const [entry = ''] = context.given.names
      const answer = await context.client.call('runCron', { body: { entry } })
      printAll(context, [answer], () => [`${shownName(entry)}: pushed as job ${answer.job}.`])
      return 'done'
    },
  },
  ...(['pause', 'resume'] as const).map((verb): CommandRow => ({
    words: ['cron', verb],
    summary:
      verb === 'pause'
        ? 'let the ticks of entries push nothing, at all gateways'
        : 'let entries push jobs again, from their next tick on',
    arguments: [names],
    run: async (context) => {
      const operation = verb === 'pause' ? 'pauseCron' : 'resumeCron'
      const body = { entries: [...context.given.names] }
      const answer = await context.client.call(operation, { body })
      printAll(context, [answer], () =>
        answer.entries.map((entry) => `${shownName(entry)}: ${verb}d.`),
      )
      return 'done'
    },
  })),
]
