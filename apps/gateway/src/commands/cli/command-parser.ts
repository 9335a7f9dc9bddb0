import { Argument, Command, CommanderError, Option } from 'commander'
import { type CommandForm, flagOfRow, flagsOf, type OptionRow } from '../../config/option-row.ts'

/** Stream that help is written to. */
export interface HelpOutput {
  write(text: string): unknown
}

/** A parser that ends no process: help goes to `out`, and errors are thrown. */
export function commandParser(name: string, out: HelpOutput): Command {
  return new Command(name)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      outputError: () => undefined,
      writeOut: (text) => void out.write(text),
      writeErr: () => undefined,
    })
}

/** Gives a parser the options, arguments and texts of a command. */
export function withForm(parser: Command, form: CommandForm): Command {
  parser.description(form.summary)
  if (form.helpAfter !== undefined) parser.addHelpText('after', form.helpAfter)
  for (const { name, help, isRequired, isMany } of form.arguments ?? []) {
    const shown = isMany ? `${name}...` : name
    parser.addArgument(new Argument(isRequired ? `<${shown}>` : `[${shown}]`, help))
  }
  for (const row of form.options ?? []) parser.addOption(optionOf(row))
  return parser
}

function optionOf(row: OptionRow): Option {
  const { argument, help, choices, read, usual, group } = row
  const flags = [...flagsOf(row)].reverse().join(', ')
  const option = new Option(argument === undefined ? flags : `${flags} <${argument}>`, help)
  if (group !== undefined) option.helpGroup(group)
  if (usual !== undefined) option.default(usual)
  if (read) return option.argParser(read)
  return choices ? option.choices(choices) : option
}

/** Values of options by the names of their rows; undefined where they are not given. */
export function valuesIn(
  parser: Command,
  rows: readonly OptionRow[],
): Readonly<Record<string, unknown>> {
  const values = parser.opts<Readonly<Record<string, unknown>>>()
  return Object.fromEntries(
    rows.map((row) => [row.name, values[new Option(flagOfRow(row)).attributeName()]]),
  )
}

/** Makes an error of a line that says what is wrong and what to do. */
export type Refusal = (line: string, cause: ErrorOptions) => Error

/**
 * The options that the words behind a command give; undefined if only help was asked for.
 *
 * @throws what `refusal` makes.
 */
export function readForm(
  form: CommandForm,
  words: readonly string[],
  out: HelpOutput,
  refusal: Refusal,
): Readonly<Record<string, unknown>> | undefined {
  const parser = withForm(commandParser(['crossgear', ...form.words].join(' '), out), form)
  return parseWords(parser, words, refusal) ? parser.opts() : undefined
}

/**
 * Parses the words behind a command; false if only help was asked for.
 *
 * @throws what `refusal` makes.
 */
export function parseWords(program: Command, words: readonly string[], refusal: Refusal): boolean {
  const unknown = unknownInHelp(program, words)
  if (unknown !== undefined) {
    throw refusal(`There is no command "${unknown}": see ${program.name()} --help.`, {})
  }
  try {
    program.parse(words, { from: 'user' })
    return true
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return false
    throw refusal(`${explained(error)}: see ${program.name()} --help.`, { cause: error })
  }
}

/** The words of a command that is not there and whose help is asked for: the parser would show another one's. */
export function unknownInHelp(program: Command, words: readonly string[]): string | undefined {
  if (!words.some((word) => word === '--help' || word === '-h')) return undefined
  let command = program
  for (const [at, word] of words.entries()) {
    if (command.commands.length === 0 || word.startsWith('-') || word === 'help') return undefined
    const next = command.commands.find((each) => each.name() === word)
    if (!next) return words.slice(0, at + 1).join(' ')
    command = next
  }
  return undefined
}

/** The fault, as the beginning of a sentence. */
export function explained({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'No command is given'
  const line = message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ')
  return `${line.charAt(0).toUpperCase()}${line.slice(1)}`
}
