import { type HelpOutput, readForm } from '../cli/command-parser.ts'
import { numberFrom } from '../terminal/option-rows.ts'
import type { ConfigSources } from '../../config/load-config.ts'
import { type CommandForm, folderAndFile } from '../../config/option-row.ts'
import { StartError } from '../../errors.ts'

/** How long `--capacity` measures each load where `--seconds` is not given. */
const usualSeconds = 2

/** The checked command line. */
export interface DoctorArguments {
  readonly flags: ConfigSources['flags']
  readonly isJson: boolean
  readonly isFull: boolean
  /** Seconds of each load, where this machine is measured in place of a store. */
  readonly capacitySeconds?: number
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
    {
      name: 'capacity',
      help: 'measure this machine instead: how many jobs it carries, and what more of them take',
    },
    {
      name: 'seconds',
      argument: 'number',
      read: numberFrom(1, 60),
      help: `how long --capacity looks at each load at a time, 1 to 60 (default: ${usualSeconds})`,
    },
    { name: 'json', help: 'one line of JSON for a program' },
  ],
  helpAfter: `
Nothing in the store is changed. Each line is ok, warning or fault, and says what to do.

--capacity starts a gateway and a Redis of its own, fills them for about a minute, and removes both: it uses no other store.

Exit codes: 0 no faults, 1 usage, 2 the store cannot be reached or this machine was not measured, 3 faults.
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
  const { json, full, capacity, seconds, ...flags } = given
  const common = { isJson: json === true, isFull: full === true }
  if (capacity !== true) {
    if (seconds !== undefined) throw refusal('--seconds goes with --capacity.', {})
    return { flags, ...common }
  }
  if (Object.keys(flags).length > 0 || full === true) {
    const line = '--capacity measures a store of its own: it takes --seconds and --json alone.'
    throw refusal(line, {})
  }
  return { flags, ...common, capacitySeconds: Number(seconds ?? usualSeconds) }
}
