import { type HelpOutput, readForm } from '../cli/command-parser.ts'
import type { CommandForm } from '../../config/option-row.ts'
import { StartError } from '../../errors.ts'

export const passwordForm: CommandForm = {
  words: ['password'],
  summary: 'Makes the hash of a password, for a person of the configuration file.',
  helpAfter: `
At a terminal it asks twice and shows nothing; else it takes the first line of standard input. It prints the line to
paste below [operators.<name>].

Exit codes: 0 done, 2 no password, or not the same one twice.
`,
}

/** False if only help was asked for. Throws a StartError. */
export function readPasswordArguments(words: readonly string[], out: HelpOutput): boolean {
  const refusal = (line: string, cause: ErrorOptions) => new StartError(line, 2, cause)
  return readForm(passwordForm, words, out, refusal) !== undefined
}
