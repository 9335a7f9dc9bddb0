import { type HelpOutput, readForm } from '../cli/command-parser.ts'
import type { ConfigSources } from '../../config/load-config.ts'
import { type CommandForm, folderAndFile } from '../../config/option-row.ts'
import { StartError } from '../../errors.ts'

/** The checked command line. */
export interface DoctorArguments {
  readonly flags: ConfigSources['flags']
  readonly isJson: boolean
  readonly isFull: boolean
}

export const doctorForm: CommandForm = {
  words: ['doctor'],
  summary: 'Examines a store: its server, its settings, and whether each job is in its place.',
  options: [
    {
      name: 'redisUrl',
      argument: 'url',
      help: 'the store (default: the private or embedded one of a gateway that runs)',
    },
    ...folderAndFile,
    { name: 'full', help: 'look at every job, however many there are' },
    { name: 'json', help: 'one line of JSON for a program' },
  ],
  helpAfter: `
Nothing in the store is changed. Each line is ok, warning or fault, and says what to do.

Exit codes: 0 no faults, 1 usage, 2 the store cannot be reached, 3 faults.
`,
}

/** Undefined if only help was asked for. Throws a StartError. */
export function readDoctorArguments(
  words: readonly string[],
  out: HelpOutput,
): DoctorArguments | undefined {
  const refusal = (line: string, cause: ErrorOptions) => new StartError(line, 2, cause)
  const given = readForm(doctorForm, words, out, refusal)
  if (!given) return undefined
  const { json, full, ...flags } = given
  return { flags, isJson: json === true, isFull: full === true }
}
