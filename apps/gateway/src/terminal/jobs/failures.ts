import { failureQuery } from '../../api/schemas/jobs.ts'
import type { Answer, Asked } from '../api-client.ts'
import { type CommandContext, type CommandRow, printAll, valuesOf } from '../command-row.ts'
import { optionsOf } from '../option-rows.ts'
import { type Column, tableLines } from '../table.ts'
import type { ExitName } from '../terminal-error.ts'

type Group = Answer<'listFailures'>['groups'][number]

const options = optionsOf(failureQuery, ['cursor'])

/** Groups that are kept apart; jobs of further ones are only counted as looked at. */
const maxGroups = 1_000

const columns: readonly Column<Group>[] = [
  { title: 'jobs', value: ({ jobs }) => jobs, isNumber: true },
  { title: 'error', value: ({ type }) => type || '-', mayShrink: true },
  { title: 'first line', value: ({ line }) => line || '-', mayShrink: true },
  { title: 'functions', value: ({ functions }) => functions.join(','), mayShrink: true },
  { title: 'example', value: ({ example }) => example },
]

export const listFailures: CommandRow = {
  words: ['jobs', 'failures'],
  summary: 'list failed jobs by the kind and first line of their error, the most frequent first',
  options,
  run,
}

async function run(context: CommandContext): Promise<ExitName> {
  const { client, given, isJson, stderr } = context
  const filter = valuesOf(given, options) as NonNullable<Asked<'listFailures'>['query']>
  const groups = new Map<string, Group>()
  let lookedAt = 0
  let cursor: string | null | undefined
  do {
    const query = { ...filter, ...(cursor && { cursor }) }
    const page: Answer<'listFailures'> = await client.call('listFailures', { query })
    lookedAt += page.looked_at
    for (const group of page.groups) {
      const key = JSON.stringify([group.type, group.line])
      const known = groups.get(key)
      if (known) groups.set(key, { ...known, jobs: known.jobs + group.jobs })
      else if (groups.size < maxGroups) groups.set(key, group)
    }
    cursor = page.cursor
  } while (cursor !== null)
  const sorted = [...groups.values()].sort((one, other) => other.jobs - one.jobs)
  if (sorted.length === 0) {
    if (!isJson) stderr.write(`No failed job (${lookedAt} looked at).\n`)
    return 'notFound'
  }
  printAll(context, sorted, () => tableLines(columns, sorted, context.columns))
  return 'done'
}
