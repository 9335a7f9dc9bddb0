import { auditPage } from '../../web/api/schemas/audit.ts'
import type { OptionRow } from '../../config/option-row.ts'
import type { Answer } from './api-client.ts'
import {
  type CommandContext,
  type CommandRow,
  numberOf,
  printAll,
  say,
  textOf,
} from './command-row.ts'
import { limitOption } from './option-rows.ts'
import { rowsUpTo } from './pages.ts'
import { type Column, tableLines } from './table.ts'
import { type ExitName, TerminalError } from './terminal-error.ts'

type Entry = Answer<'listAudit'>['entries'][number]

/** Entries that are listed by default, and at most. */
const listed = { usual: 50, max: 100_000 } as const

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** `90`, `30m`, `12h` or `7d`, in seconds. */
function readSpan(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? []
  if (number !== undefined) return Number(number) * (unitSeconds[unit || 's'] ?? 1)
  throw new TerminalError('usage', `--since is ${JSON.stringify(text)}: give 90s, 30m, 12h or 7d.`)
}

const options: readonly OptionRow[] = [
  { name: 'who', argument: 'name', help: 'only acts of this person, or of operator: the password' },
  {
    name: 'since',
    argument: 'time',
    read: readSpan,
    help: 'only acts that are no older, such as 30m, 12h or 7d',
  },
  {
    name: 'operation',
    argument: 'name',
    help: 'only acts of this kind, such as deleteJobs, MUTATE or FLUSH',
  },
  limitOption('acts that are listed', listed.usual, listed.max),
]

const columns: readonly Column<Entry>[] = [
  { title: 'entry', value: ({ entry }) => entry },
  { title: 'at', value: ({ at }) => at ?? '-', rank: 1 },
  { title: 'who', value: ({ who }) => who ?? '-', mayShrink: true },
  { title: 'door', value: ({ door }) => door },
  { title: 'address', value: ({ address }) => address, mayShrink: true, rank: 2 },
  { title: 'act', value: ({ operation }) => operation },
  { title: 'jobs', value: ({ jobs }) => jobs ?? '-', isNumber: true },
  { title: 'undo', value: ({ undo }) => (undo === 'no' ? '' : undo) },
  { title: 'target', value: ({ target }) => target, mayShrink: true },
]

export const auditCommands: readonly CommandRow[] = [
  {
    words: ['audit', 'list'],
    isDefault: true,
    summary: 'list who did what, the newest first',
    options,
    run: list,
  },
  {
    words: ['audit', 'undo'],
    summary: 'put the jobs that an act deleted within a day back where they were, once',
    arguments: [{ name: 'entry', help: 'an entry of the list', isRequired: true }],
    run: async (context) => {
      const [entry = ''] = context.given.names
      const answer = await context.client.call('undoAct', { params: { entry } })
      return say(context, answer, () => [
        `${answer.restored} jobs are back.`,
        ...answer.left.map(({ reason, jobs }) => `${jobs} jobs are not: ${reason}.`),
      ])
    },
  },
]

async function list(context: CommandContext): Promise<ExitName> {
  const { client, given, stderr, isJson } = context
  const limit = numberOf(given, 'limit') ?? listed.usual
  const [who, since] = [textOf(given, 'who'), numberOf(given, 'since')]
  const operation = textOf(given, 'operation')
  const filter = {
    ...(who && { who }),
    ...(operation && { operation }),
    ...(since !== undefined && { since_seconds: since }),
  }
  const { rows: entries, hasMore } = await rowsUpTo(
    limit,
    auditPage.max,
    (query) => client.call('listAudit', { query: { ...filter, ...query } }),
    (page) => page.entries,
  )
  if (entries.length > 0) {
    printAll(context, entries, () => tableLines(columns, entries, context.columns))
  }
  if (!isJson && entries.length === 0) stderr.write('The audit has no such act.\n')
  if (!isJson && hasMore) stderr.write(`There are more: --limit ${limit} was reached.\n`)
  return entries.length > 0 ? 'done' : 'notFound'
}
