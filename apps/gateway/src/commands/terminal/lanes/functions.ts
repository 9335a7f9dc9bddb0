import { pageSizes } from '../../../web/api/schemas/common.ts'
import { loadConfig } from '../../../config/load-config.ts'
import type { OptionName } from '../../../config/options.ts'
import { StartError } from '../../../errors.ts'
import type { Answer, ApiClient } from '../api-client.ts'
import { actCommand, callCommand, listCommand } from '../call-command.ts'
import { type CommandContext, type CommandRow, textOf } from '../command-row.ts'
import { TerminalError } from '../terminal-error.ts'
import type { FunctionAction } from './functions-at-store.ts'
import { emptyOptions, emptyPlace } from '../jobs/acts.ts'
import { rowsUpTo } from '../pages.ts'
import { shownName } from '../shown-text.ts'
import { type FunctionEntry, functionColumns } from './columns.ts'
import { containsOption, placeLines } from './queues.ts'

/** Options that lead to the store itself, past the gateway and its password. */
const storeOptions = ['redisUrl', 'dataDir', 'bridgeFaktory'] as const satisfies OptionName[]

const names = {
  name: 'function',
  help: 'functions, or lanes of them such as mail@bulk',
  isMany: true,
} as const

const oneName = { name: 'function', help: 'a function', isRequired: true } as const

const namesRequired = { ...names, isRequired: true } as const

const closed = 'closed to Faktory consumers until it is opened'
const pause = 'stop giving their jobs to workers at gateways; new jobs are still accepted'

/** The same command at the store, where an option names that. */
function orAtStore(row: CommandRow, action: FunctionAction): CommandRow {
  return {
    ...row,
    gatewayOptions: storeOptions,
    run: async (context) => (await atStore(context, action)) ?? (await row.run(context)),
  }
}

export const functionCommands: readonly CommandRow[] = [
  orAtStore(
    listCommand('listFunctions', {
      summary: 'list functions: jobs, workers, and whether Faktory consumers get the jobs',
      arguments: [names],
      options: [containsOption],
      query: (given) => containing(textOf(given, containsOption.name) ?? ''),
      find: (context) => (context.given.names.length > 0 ? named(context) : undefined),
      rows: ({ functions }) => functions,
      columns: functionColumns,
      none: () => 'No such function has had a job or a worker.',
    }),
    'list',
  ),
  orAtStore(actCommand('openFunctions', namesRequired, 'open to Faktory consumers'), 'open'),
  orAtStore(actCommand('closeFunctions', namesRequired, closed), 'close'),
  actCommand('pauseFunctions', namesRequired, 'paused', pause),
  actCommand('resumeFunctions', namesRequired, 'resumed', 'give their jobs out again'),
  {
    words: ['functions', 'empty'],
    summary: 'delete the waiting jobs of a function, or of one lane of it such as mail@bulk',
    arguments: [oneName],
    options: emptyOptions,
    run: async (context) => {
      const place = await placeOf(context)
      return emptyPlace(context, { ...place, filter: { ...place.filter, state: 'waiting' } })
    },
  },
  {
    words: ['functions', 'drop'],
    summary:
      'delete a function without workers and running jobs, with its jobs and settings; a new job creates it again',
    arguments: [oneName],
    options: emptyOptions,
    run: async (context) => {
      const place = await placeOf(context)
      if (place.busy > 0) {
        throw new TerminalError(
          'failed',
          `${shownName(place.name)} has workers or running jobs: stop its workers first. Nothing was changed.`,
        )
      }
      return emptyPlace(context, place, (name, after) =>
        context.client.call('dropFunctions', { body: { functions: [name], ...after } }),
      )
    },
  },
  callCommand('getFunction', {
    summary:
      'show one function: its workers, pauses and limits, its rates, its wait and run times in the last hour, its queues',
    arguments: [oneName],
    lines: async (one, { client, columns }) => {
      const query = { function: one.function, limit: 1 }
      const { functions } = await client.call('listWorkers', { query })
      const facts = [`workers    ${workersOf(one, functions)}`, ...limitLines(one)]
      return placeLines(one, columns, facts)
    },
  }),
]

type One = Answer<'getFunction'>

/** The workers of a function, and those by name of each door that are connected to gateways. */
function workersOf(
  { workers, entries }: One,
  functions: Answer<'listWorkers'>['functions'],
): string {
  const lanes = new Set(entries.flatMap((entry) => [entry.function, entry.lane]))
  const named = functions
    .filter((row) => lanes.has(row.function))
    .map(({ function: name, door, idle, busy }) => {
      return `${busy} of ${idle + busy} busy by ${door}${name.includes('@') ? ` for ${name}` : ''}`
    })
  const count = workers === 0 ? 'none: its jobs wait' : String(workers)
  return [count, ...named].join('  ')
}

/** The limits that hold its jobs back or refuse them; no line where there are none. */
function limitLines({ limit, limits }: One): readonly string[] {
  const words = [
    ...(limit?.concurrency ? [`${limit.concurrency} run at a time`] : []),
    ...(limit?.rate_jobs ? [`${limit.rate_jobs} start in ${limit.rate_seconds ?? 1} s`] : []),
    ...(limit?.per ? [`for each ${limit.per}`] : []),
    ...(limits.max_waiting === null ? [] : [`refused while ${limits.max_waiting} wait`]),
    ...(limits.without_workers === 'refuse' ? ['refused without workers'] : []),
    ...(limits.max_age_seconds === null ? [] : [`not run after ${limits.max_age_seconds} s`]),
  ]
  return words.length > 0 ? [`limits     ${words.join('  ')}`] : []
}

/** The function, or lane of one, that is named, and how many workers and running jobs it has. */
async function placeOf({ client, given }: CommandContext) {
  const [name = ''] = given.names
  const entries = await entriesOf(client, name)
  const [first] = entries
  if (!first) throw new TerminalError('notFound', `No function is called ${shownName(name)}.`)
  const isLane = entries.every((entry) => entry.function !== name)
  const filter = { function: first.function, ...(isLane && { queue: first.queue }) }
  const busy = entries.reduce((sum, { workers, running }) => sum + workers + running, 0)
  return { what: 'function', name, filter, busy } as const
}

/** The entries of a function, or the one of a lane. */
async function entriesOf(client: ApiClient, name: string): Promise<readonly FunctionEntry[]> {
  const { rows } = await rowsUpTo(
    Infinity,
    pageSizes.max,
    (query) => client.call('listFunctions', { query: { ...query, ...containing(name) } }),
    ({ functions }) => functions,
  )
  return rows.filter((entry) => entry.function === name || entry.lane === name)
}

/** A lane is found by the function that its name begins with. */
function containing(name: string): { readonly contains?: string } {
  const [contains] = name.split('@')
  return contains ? { contains } : {}
}

async function named({ client, given }: CommandContext) {
  const found = new Map<string, FunctionEntry>()
  for (const name of given.names) {
    for (const entry of await entriesOf(client, name)) found.set(entry.lane, entry)
  }
  return { rows: [...found.values()], pages: [], hasMore: false }
}

/** Acts at the store where an option names it; undefined where none does. */
async function atStore(
  { given, env, print }: CommandContext,
  action: FunctionAction,
): Promise<'done' | undefined> {
  const { flags } = given
  if (flags.redisUrl === undefined && flags.dataDir === undefined) return undefined
  // With the driver of the store, which no other command needs.
  const { functionsAtStore } = await import('./functions-at-store.ts')
  try {
    await functionsAtStore(action, given.names, loadConfig({ flags, env }), print)
    return 'done'
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const exit = error.exitCode === 2 ? 'usage' : 'unreachable'
    throw new TerminalError(exit, error.message, { cause: error })
  }
}
