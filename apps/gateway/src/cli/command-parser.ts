import { Command, CommanderError } from 'commander'

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

/**
 * Parses the words behind a command; false if only help was asked for.
 *
 * @throws the error that `refusal` makes of one line that says what is wrong and what to do.
 */
export function parseWords(
  program: Command,
  words: readonly string[],
  refusal: (line: string, cause: ErrorOptions) => Error,
): boolean {
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
