import type { Command } from 'commander'
import { commandParser, type HelpOutput, valuesIn, withForm } from '../cli/command-parser.ts'
import { formatItem, helpWidth } from '../cli/help-layout.ts'
import type { CommandForm, OptionRow } from '../../config/option-row.ts'
import { settingOption } from '../../config/options.ts'
import type { CommandRow, Given } from './command-row.ts'
import { addressOptions } from './gateway-address.ts'
import { terminalCommands, type TerminalCommand } from './names.ts'

/** Options that every command has. */
const commonOptions: readonly OptionRow[] = [
  {
    name: 'url',
    argument: 'url',
    help: 'the web port of a gateway (default: CROSSGEAR_URL, else that of this machine by its --web-port)',
  },
  {
    name: 'ca',
    argument: 'file',
    help: 'authority (PEM) of the certificate of a web port with https, or that certificate itself (default: CROSSGEAR_CA, for the gateway of this machine its --web-tls-cert)',
  },
  { name: 'json', help: 'print JSON for programs, one value a line' },
]

const helpAfter = `
This machine reads without a password; changes need the gateway's --web-password, or a person of its configuration.
CROSSGEAR_URL, CROSSGEAR_CA, CROSSGEAR_USER, CROSSGEAR_WEB_PASSWORD and the file of --config say where the gateway is and who asks, too.

Exit codes: 0 done, 1 usage, 2 no gateway answers, 3 refused (password, role), 4 there is no such thing or nothing
matched, 5 the gateway could not do it (its store is away, it is busy), 6 the question was not answered with yes.
`

/** An option of commands that may need a password. */
const userOption: OptionRow = {
  name: 'user',
  argument: 'name',
  help: 'the person whose password --web-password is (default: CROSSGEAR_USER, else the password has no name)',
}

/** All options of a command: its own, and those of the gateway. */
function optionsOf({ options = [], gatewayOptions = [], isOpen }: CommandRow) {
  const settings = [...(isOpen ? [] : addressOptions), ...gatewayOptions]
  const common = isOpen ? commonOptions : [...commonOptions, userOption]
  return { own: [...options, ...common], settings: settings.map(settingOption) }
}

/** The form of a command's parser. */
function formOf(row: CommandRow): CommandForm {
  const { own, settings } = optionsOf(row)
  return { ...row, helpAfter, options: [...own, ...settings] }
}

/** The forms of these commands, those of a group behind the group. */
export function terminalForms(rows: readonly CommandRow[]): readonly CommandForm[] {
  return [...new Set(rows.map(({ words: [word] }) => word))].flatMap((word) => {
    const forms = rows.filter(({ words }) => words[0] === word).map(formOf)
    if (forms.some(({ words }) => words.length === 1)) return forms
    return [{ words: [word], summary: terminalCommands[word as TerminalCommand] }, ...forms]
  })
}

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
  const parsers = new Map<string, Command>()
  for (const form of terminalForms(rows)) {
    const [word = '', second] = form.words
    const row = rows.find(({ words }) => words.join() === form.words.join())
    const parent = (second !== undefined && parsers.get(word)) || program
    const parser = parent.command(second ?? word, { isDefault: row?.isDefault ?? false })
    parsers.set(form.words.join(' '), withForm(parser, form))
    if (row) parser.action(async () => await run(row, givenTo(parser, row)))
  }
  return program
}

function givenTo(parser: Command, row: CommandRow): Given {
  const { own, settings } = optionsOf(row)
  const flags = Object.entries(valuesIn(parser, settings)).filter(
    ([, value]) => value !== undefined,
  )
  return {
    names: parser.args,
    options: valuesIn(parser, own) as Given['options'],
    flags: Object.fromEntries(flags),
  }
}
