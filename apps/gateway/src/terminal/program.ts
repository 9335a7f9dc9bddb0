import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { commandParser, type HelpOutput } from '../cli/command-parser.ts'
import { commanderOption, formatItem, helpWidth } from '../cli/help-layout.ts'
import type { OptionName } from '../config/options.ts'
import type { CommandRow, Given, OptionGiven } from './command-row.ts'
import { addressOptions } from './gateway-address.ts'
import { terminalCommands, type TerminalCommand } from './names.ts'
import { flagOfRow, type OptionRow } from './option-rows.ts'

/** Options that every command has. */
const commonOptions: readonly OptionRow[] = [
  {
    ...{ name: 'url', argument: 'url' },
    help: 'the web port of a gateway (default: CROSSGEAR_URL, else http://127.0.0.1 and its --web-port)',
  },
  { name: 'json', help: 'print JSON for programs, one value a line' },
]

const helpAfter = `
This machine reads without a password; changes need the gateway's --web-password. CROSSGEAR_URL, CROSSGEAR_WEB_PASSWORD
and the file of --config say where the gateway is and what its password is, too.

Exit codes: 0 done, 1 usage, 2 no gateway answers, 3 refused (password, role), 4 there is no such thing or nothing
matched, 5 the gateway could not do it (its store is away, it is busy), 6 the question was not answered with yes.
`

/** The parser of these commands; it calls `run` with the row whose words are given, and what it is given. */
export function terminalProgram(
  rows: readonly CommandRow[],
  run: (row: CommandRow, given: Given) => Promise<void>,
  { stdout }: { readonly stdout: HelpOutput },
): Command {
  const program = commandParser('crossgear', stdout).configureHelp({
    formatItem,
    helpWidth: helpWidth(),
  })
  const groups = new Map<string, Command>()
  for (const row of rows) {
    const [word, second] = row.words
    if (second === undefined) {
      addCommand(program, word, row, run)
      continue
    }
    const group =
      groups.get(word) ??
      program.command(word).description(terminalCommands[word as TerminalCommand])
    groups.set(word, group)
    addCommand(group, second, row, run)
  }
  return program
}

function addCommand(
  parent: Command,
  word: string,
  row: CommandRow,
  run: (row: CommandRow, given: Given) => Promise<void>,
): void {
  const options = [...(row.options ?? []), ...commonOptions]
  const fromGateway = [...(row.isOpen ? [] : addressOptions), ...(row.gatewayOptions ?? [])]
  const command = parent
    .command(word, { isDefault: row.isDefault ?? false })
    .description(row.summary)
    .addHelpText('after', helpAfter)
  for (const { name, help, isRequired, isMany } of row.arguments ?? []) {
    const form = isMany ? `${name}...` : name
    command.addArgument(new Argument(isRequired ? `<${form}>` : `[${form}]`, help))
  }
  for (const option of options) command.addOption(optionOf(option))
  for (const name of fromGateway) command.addOption(commanderOption(name))
  command.action(async () => {
    await run(row, givenTo(command, options, fromGateway))
  })
}

function optionOf(row: OptionRow): Option {
  const { argument, help, choices, range } = row
  const flag = flagOfRow(row)
  const option = new Option(argument === undefined ? flag : `${flag} <${argument}>`, help)
  if (choices) return option.choices(choices)
  return range ? option.argParser((text) => numberIn(text, range)) : option
}

function numberIn(text: string, { min, max, isWhole }: NonNullable<OptionRow['range']>): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  const isRight = isWhole ? Number.isSafeInteger(number) : Number.isFinite(number)
  if (isRight && number >= min && number <= max) return number
  throw new InvalidArgumentError(`Give a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}.`)
}

function givenTo(
  command: Command,
  options: readonly OptionRow[],
  fromGateway: readonly OptionName[],
): Given {
  const values = command.opts<Record<string, OptionGiven | undefined>>()
  const own = options.map((row): [string, OptionGiven | undefined] => {
    return [row.name, values[optionOf(row).attributeName()]]
  })
  const flags = fromGateway.map((name) => [name, values[name]])
  return {
    names: command.args,
    options: Object.fromEntries(own),
    flags: Object.fromEntries(flags.filter(([, value]) => value !== undefined)) as Given['flags'],
  }
}
