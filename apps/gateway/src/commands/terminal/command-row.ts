import type { ConfigSources } from '../../config/load-config.ts'
import type { ArgumentRow, CommandForm, OptionRow } from '../../config/option-row.ts'
import type { OptionName } from '../../config/options.ts'
import { endpoints } from '../../web/api/endpoints.ts'
import type { ApiClient } from './api-client.ts'
import { shownName } from './shown-text.ts'
import { type Column, tableLines } from './table.ts'
import type { ExitName } from './terminal-error.ts'

/** A value of an option, as its row says. */
export type OptionGiven = string | number | boolean

/** The checked words of a command. */
export interface Given {
  /** Of the first argument, or of all. */
  readonly names: readonly string[]
  readonly options: Readonly<Record<string, OptionGiven | undefined>>
  /** The gateway's own options among them. */
  readonly flags: ConfigSources['flags']
}

/** The streams of a command. */
export interface TerminalOutput {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

export interface CommandContext extends TerminalOutput {
  readonly client: ApiClient
  readonly given: Given
  readonly env: ConfigSources['env']
  /** JSON, one value a line, in place of words. */
  readonly isJson: boolean
  /** Columns of the terminal; Infinity where there is none. */
  readonly columns: number
  /** Ends the command. */
  readonly signal: AbortSignal
  /** Prints a line. */
  readonly print: (line: string) => void
}

/** One command of a running gateway: its words, its options, and what it does. */
export interface CommandRow extends Omit<CommandForm, 'helpAfter'> {
  readonly words: readonly [string, ...string[]]
  /** Options of the gateway that it takes besides those that say where it is. None. */
  readonly gatewayOptions?: readonly OptionName[]
  /** The first word alone means the command. false. */
  readonly isDefault?: boolean
  /** Needs no password, so none is read. false. */
  readonly isOpen?: boolean
  /** The command runs until it is interrupted. false. */
  readonly isLive?: boolean
  readonly run: (context: CommandContext) => Promise<ExitName>
}

/** A command that prints a table, or says that there is nothing to list. */
export function listCommand<Entry>({
  columns,
  none,
  entries,
  ...row
}: Omit<CommandRow, 'run'> & {
  readonly columns: readonly Column<Entry>[]
  /** Absent: `entries` says it. */
  readonly none?: string
  readonly entries: (context: CommandContext) => Promise<readonly Entry[]>
}): CommandRow {
  return {
    ...row,
    run: async (context) => {
      const found = await entries(context)
      if (found.length === 0) {
        if (!context.isJson && none !== undefined) context.stderr.write(`${none}\n`)
        return 'notFound'
      }
      printAll(context, found, () => tableLines(columns, found, context.columns))
      return 'done'
    },
  }
}

/** Operations that change what one list of names says, and answer with it. */
type NamedAct =
  | `${'pause' | 'resume'}${'Queues' | 'Functions' | 'Cron'}`
  | `${'open' | 'close'}Functions`

/** Said of a name that the gateway does not know. */
const doubt = 'No job has come to it so far: is the name right?'

/** The command of an operation on named things: its words are those of the path. It says of each how it is now. */
export function actCommand(
  operation: NamedAct,
  names: ArgumentRow,
  summary: string,
  state: string,
): CommandRow {
  const { path, body } = endpoints[operation]
  const [, first = '', ...words] = path.split('/')
  const [key = ''] = Object.keys(body?.properties ?? {})
  return {
    words: [first, ...words],
    summary,
    arguments: [names],
    run: async (context) => {
      const asked = { [key]: context.given.names } as never
      const result = await context.client.call(operation, { body: asked })
      const named = result as Readonly<Record<string, readonly string[] | undefined>>
      return say(context, result, () =>
        (named[key] ?? []).map((name) => {
          const isUnknown = named['unknown']?.includes(name)
          return `${shownName(name)}: ${state}.${isUnknown ? ` ${doubt}` : ''}`
        }),
      )
    },
  }
}

/** Prints an answer: as JSON, or as `lines` has it. */
export function say(
  context: Pick<CommandContext, 'isJson' | 'print'>,
  answer: unknown,
  lines: () => readonly string[],
): 'done' {
  printAll(context, [answer], lines)
  return 'done'
}

/** Prints values: as JSON lines, or as `lines` has them. */
export function printAll(
  { isJson, print }: Pick<CommandContext, 'isJson' | 'print'>,
  values: readonly unknown[],
  lines: () => readonly string[],
): void {
  for (const line of isJson ? values.map((value) => JSON.stringify(value)) : lines()) print(line)
}

export function textOf({ options }: Given, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

export function numberOf({ options }: Given, name: string): number | undefined {
  const value = options[name]
  return typeof value === 'number' ? value : undefined
}

export function isGiven({ options }: Given, name: string): boolean {
  return options[name] === true
}

/** The values of some options by name, without those that are not given. */
export function valuesOf(
  { options }: Given,
  rows: readonly OptionRow[],
): Record<string, OptionGiven> {
  return Object.fromEntries(
    rows.flatMap(({ name }) => {
      const value = options[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
