import type { Command, Option } from 'commander'
import { backupProgram } from '../backup/arguments.ts'
import { flagOf, optionNames, optionRow } from '../config/options.ts'
import { doctorProgram } from '../doctor/arguments.ts'
import { faktoryProgram } from '../faktory-command/program.ts'
import { gearmandOptions } from '../gearmand/option-table.ts'
import { migrateProgram } from '../migrate/arguments.ts'
import { mirrorProgram } from '../mirror/arguments.ts'
import { commands } from '../terminal/commands.ts'
import { terminalProgram } from '../terminal/program.ts'
import { completionName, completionSummary, shells } from './completion/names.ts'
import { createProgram } from './program.ts'

/** One option of a command, as its parser knows it. */
export interface OptionEntry {
  /** `--queue`, and where there is one a short form behind it. */
  readonly flags: readonly string[]
  /** Absent where the option takes no value. */
  readonly argument?: string
  readonly help: string
  /** All values. Any. */
  readonly choices?: readonly string[]
}

export interface ArgumentEntry {
  readonly name: string
  readonly help: string
  readonly isRequired: boolean
  readonly isMany: boolean
  /** All values. Any. */
  readonly choices?: readonly string[]
}

/** One command of the program. */
export interface CommandEntry {
  /** Behind `crossgear`; none: the program itself. */
  readonly words: readonly string[]
  readonly summary: string
  readonly arguments: readonly ArgumentEntry[]
  readonly options: readonly OptionEntry[]
}

/** Every command with its options, from the parsers themselves: for completion and manual pages. */
export function commandTable(version: string): readonly CommandEntry[] {
  const nowhere = { write: () => undefined }
  const nothing = (): Promise<void> => Promise.resolve()
  const program = createProgram(version, nothing)
  const serve = program.commands.find((command) => command.name() === 'serve') ?? program
  const terminal = terminalProgram(commands, nothing, { stdout: nowhere })
  const migrate = migrateProgram(nowhere, () => undefined)
  const own = optionsOf(serve)
  return [
    { words: [], summary: program.description(), arguments: [], options: [...own, versionOption] },
    { words: ['serve'], summary: serve.description(), arguments: [], options: own },
    ...terminal.commands.flatMap((command) => entriesOf(command, [command.name()])),
    {
      words: [completionName],
      summary: completionSummary,
      arguments: [{ name: 'shell', help: '', isRequired: true, isMany: false, choices: shells }],
      options: [helpOption],
    },
    ...entriesOf(migrate, ['migrate']),
    ...entriesOf(mirrorProgram(nowhere), ['mirror']),
    ...entriesOf(backupProgram('backup', nowhere), ['backup']),
    ...entriesOf(backupProgram('restore', nowhere), ['restore']),
    ...entriesOf(doctorProgram(nowhere), ['doctor']),
    ...entriesOf(faktoryProgram(nowhere), ['faktory']),
    {
      words: ['gearmand'],
      summary: "run the gateway with gearmand's own options",
      arguments: [],
      options: gearmandOptions.map(({ name, short, value, help }) => ({
        flags: [`--${name}`, ...(short === undefined ? [] : [`-${short}`])],
        help,
        ...(value && { argument: /-(?:file|certificate|key)$/.test(name) ? 'file' : 'arg' }),
      })),
    },
  ]
}

const helpOption: OptionEntry = { flags: ['--help', '-h'], help: 'print the help' }
const versionOption: OptionEntry = { flags: ['--version', '-V'], help: 'print the version' }

/** A command and those below it. */
function entriesOf(command: Command, words: readonly string[]): readonly CommandEntry[] {
  const below = command.commands.flatMap((each) => entriesOf(each, [...words, each.name()]))
  const entry = {
    ...{ words, summary: command.description() },
    arguments: command.registeredArguments.map((argument) => ({
      ...{ name: argument.name(), help: argument.description },
      ...{ isRequired: argument.required, isMany: argument.variadic },
      ...(argument.argChoices && { choices: argument.argChoices }),
    })),
    options: optionsOf(command),
  }
  return [entry, ...below]
}

/** Values of the gateway's options, by flag: their own checks say which. */
const gatewayChoices = new Map(
  optionNames.map((name) => [flagOf(name), optionRow(name).value.choices]),
)

function optionsOf({ options }: Command): readonly OptionEntry[] {
  return [...options.map(optionEntry), helpOption]
}

function optionEntry({ long, short, flags, description, argChoices }: Option): OptionEntry {
  const [, argument] = /<([^>]+)>/.exec(flags) ?? []
  const choices = argChoices ?? gatewayChoices.get(long ?? '')
  return {
    flags: [long, short].filter((flag) => typeof flag === 'string'),
    help: description,
    ...(argument !== undefined && { argument }),
    ...(choices && { choices }),
  }
}
