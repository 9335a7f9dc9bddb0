import type { ConfigSources } from '../../config/load-config.ts'
import type { CommandForm, OptionRow } from '../../config/option-row.ts'
import type { OptionName } from '../../config/options.ts'
import type { ApiClient } from './api-client.ts'
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
