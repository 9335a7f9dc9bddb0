import type { OptionRow } from '../../config/option-row.ts'
import type { Answer } from './api-client.ts'
import { callCommand, listCommand } from './call-command.ts'
import { type CommandRow, valuesOf } from './command-row.ts'
import type { Column } from './table.ts'
import { TerminalError } from './terminal-error.ts'

type Entry = Answer<'listAudit'>['entries'][number]

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
  listCommand('listAudit', {
    isDefault: true,
    summary: 'list who did what, the newest first',
    options,
    limit: { what: 'acts that are listed', max: 100_000 },
    query: (given) => {
      const { since, ...filter } = valuesOf(given, options)
      return { ...filter, ...(since !== undefined && { since_seconds: since }) }
    },
    rows: ({ entries }) => entries,
    columns,
    none: () => 'The audit has no such act.',
  }),
  callCommand('undoAct', {
    arguments: [{ name: 'entry', help: 'an entry of the list', isRequired: true }],
    lines: ({ restored, left }) => [
      `${restored} jobs are back.`,
      ...left.map(({ reason, jobs }) => `${jobs} jobs are not: ${reason}.`),
    ],
  }),
]
