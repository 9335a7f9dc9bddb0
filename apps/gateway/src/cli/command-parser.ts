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
  try {
    program.parse(words, { from: 'user' })
    return true
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return false
    throw refusal(`${explained(error)}: see ${program.name()} --help.`, { cause: error })
  }
}

/** The fault, as the beginning of a sentence. */
export function explained({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'No command is given'
  const line = message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ')
  return `${line.charAt(0).toUpperCase()}${line.slice(1)}`
}
