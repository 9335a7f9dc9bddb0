import { loadConfig } from '../../config/load-config.ts'
import type { OptionName } from '../../config/options.ts'
import { StartError } from '../../errors.ts'
import type { Answer } from '../api-client.ts'
import { type CommandContext, type CommandRow, printAll, textOf } from '../command-row.ts'
import { shownName } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'
import { type ExitName, TerminalError } from '../terminal-error.ts'
import { allPages } from './pages.ts'
import { containsOption, standingColumns } from './queues.ts'

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

export const functionCommands: readonly CommandRow[] = [
  {
    words: ['functions', 'list'],
    summary: 'list functions: jobs, workers, and whether Faktory consumers get the jobs',
    arguments: [names],
    options: [containsOption],
    gatewayOptions: storeOptions,
    run: async (context) => (await atStore(context, 'list')) ?? (await list(context)),
  },
  {
    words: ['functions', 'open'],
    summary: 'open functions to Faktory consumers for good',
    arguments: [{ ...names, isRequired: true }],
    gatewayOptions: storeOptions,
    run: async (context) =>
      (await atStore(context, 'open')) ??
      say(
        context,
        await context.client.call('openFunctions', { body: bodyOf(context) }),
        'open to Faktory consumers',
      ),
  },
  {
    words: ['functions', 'close'],
    summary: 'close functions to Faktory consumers until they are opened',
    arguments: [{ ...names, isRequired: true }],
    gatewayOptions: storeOptions,
    run: async (context) =>
      (await atStore(context, 'close')) ??
      say(
        context,
        await context.client.call('closeFunctions', { body: bodyOf(context) }),
        'closed to Faktory consumers until it is opened',
      ),
  },
  {
    words: ['functions', 'pause'],
    summary: 'stop giving their jobs to workers at gateways; new jobs are still accepted',
    arguments: [{ ...names, isRequired: true }],
    run: async (context) =>
      say(
        context,
        await context.client.call('pauseFunctions', { body: bodyOf(context) }),
        'paused',
      ),
  },
  {
    words: ['functions', 'resume'],
    summary: 'give their jobs out again',
    arguments: [{ ...names, isRequired: true }],
    run: async (context) =>
      say(
        context,
        await context.client.call('resumeFunctions', { body: bodyOf(context) }),
        'resumed',
      ),
  },
]

async function list(context: CommandContext): Promise<ExitName> {
  const { client, given, stderr, isJson } = context
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
  const functions = [...found.values()]
  if (functions.length === 0) {
    if (!isJson) stderr.write('No such function has had a job or a worker.\n')
    return 'notFound'
  }
  printAll(context, functions, () => tableLines(columns, functions, context.columns))
  return 'done'
}

/** Acts at the store where an option names it; undefined where none does. */
async function atStore(
  { given, env, print }: CommandContext,
  action: 'list' | 'open' | 'close',
): Promise<ExitName | undefined> {
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

function bodyOf({ given }: CommandContext): { functions: string[] } {
  return { functions: [...given.names] }
}

function say(context: CommandContext, answer: Answer<'openFunctions'>, state: string): ExitName {
  printAll(context, [answer], () => answer.functions.map((lane) => `${shownName(lane)}: ${state}.`))
  return 'done'
}
