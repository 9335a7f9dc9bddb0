import { loadConfig } from '../../config/load-config.ts'
import type { OptionName } from '../../config/options.ts'
import { StartError } from '../../errors.ts'
import type { Answer } from '../api-client.ts'
import {
  actCommand,
  type CommandContext,
  type CommandRow,
  listCommand,
  textOf,
} from '../command-row.ts'
import type { Column } from '../table.ts'
import { TerminalError } from '../terminal-error.ts'
import type { FunctionAction } from './functions-at-store.ts'
import { allPages } from '../pages.ts'
import { containsOption, sayPlace, standingColumns } from './queues.ts'

export type FunctionEntry = Answer<'listFunctions'>['functions'][number]

/** Options that lead to the store itself, past the gateway and its password. */
const storeOptions = ['redisUrl', 'dataDir', 'bridgeFaktory'] as const satisfies OptionName[]

const opennessWords: Readonly<Record<FunctionEntry['openness'], string>> = {
  open: 'open',
  auto: 'open by rule',
  closed: 'closed by workers',
  shut: 'closed',
  unrouted: 'closed by rule',
}

const columns: readonly Column<FunctionEntry>[] = [
  { title: 'function', value: (row) => row.function, mayShrink: true },
  { title: 'queue', value: ({ queue }) => queue, mayShrink: true },
  ...standingColumns,
  { title: 'workers', value: ({ workers }) => workers, isNumber: true },
  { title: 'to consumers', value: ({ openness }) => opennessWords[openness] },
  { title: 'state', value: pausedOf },
]

/** Its paused parts. */
export function pausedOf(entry: Pick<FunctionEntry, 'is_paused' | 'is_function_paused'>): string {
  return entry.is_function_paused ? 'paused' : entry.is_paused ? 'queue paused' : ''
}

const names = {
  name: 'function',
  help: 'functions, or lanes of them such as mail@bulk',
  isMany: true,
} as const

type Operation = 'openFunctions' | 'closeFunctions' | 'pauseFunctions' | 'resumeFunctions'

/** A change of functions: its word, the API's, what it does and how a function is then. */
function change(verb: string, operation: Operation, summary: string, state: string): CommandRow {
  return actCommand({
    ...{ words: ['functions', verb], summary, arguments: [{ ...names, isRequired: true }] },
    act: ({ client }, functions) => client.call(operation, { body: { functions } }),
    said: ({ functions }) => functions.map((lane) => [lane, `${state}.`]),
  })
}

const open = 'open functions to Faktory consumers for good'
const close = 'close functions to Faktory consumers until they are opened'
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
    listCommand({
      words: ['functions', 'list'],
      summary: 'list functions: jobs, workers, and whether Faktory consumers get the jobs',
      ...{ arguments: [names], options: [containsOption], columns, entries: listed },
      none: 'No such function has had a job or a worker.',
    }),
    'list',
  ),
  orAtStore(change('open', 'openFunctions', open, 'open to Faktory consumers'), 'open'),
  orAtStore(change('close', 'closeFunctions', close, closed), 'close'),
  change('pause', 'pauseFunctions', pause, 'paused'),
  change('resume', 'resumeFunctions', 'give their jobs out again', 'resumed'),
  {
    words: ['functions', 'show'],
    summary: 'show one function: its rates, its wait and run times in the last hour, its queues',
    arguments: [{ name: 'function', help: 'the function', isRequired: true }],
    run: async (context) => {
      const [fn = ''] = context.given.names
      return sayPlace(
        context,
        await context.client.call('getFunction', { params: { function: fn } }),
      )
    },
  },
]

async function listed({ client, given }: CommandContext): Promise<readonly FunctionEntry[]> {
  const wanted = given.names.length > 0 ? given.names : [textOf(given, containsOption.name)]
  const found = new Map<string, FunctionEntry>()
  for (const contains of wanted) {
    // A lane is found by the function that its name begins with.
    const part = given.names.length > 0 ? contains?.split('@')[0] : contains
    const pages = await allPages((query) =>
      client.call('listFunctions', {
        query: { ...query, ...(part !== undefined && part !== '' && { contains: part }) },
      }),
    )
    for (const entry of pages.flatMap((page) => page.functions)) {
      const isNamed = entry.function === contains || entry.lane === contains
      if (given.names.length === 0 || isNamed) found.set(entry.lane, entry)
    }
  }
  return [...found.values()]
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
