import type { Command } from 'commander'
import { commandParser, type HelpOutput, parseWords } from '../cli/command-parser.ts'
import type { ConfigSources } from '../config/load-config.ts'
import { StartError } from '../errors.ts'

/** The checked command line. */
export interface DoctorArguments {
  readonly flags: ConfigSources['flags']
  readonly isJson: boolean
  readonly isFull: boolean
}

const helpAfter = `
Nothing in the store is changed. Each line is ok, warning or fault, and says what to do.

Exit codes: 0 no faults, 1 usage, 2 the store cannot be reached, 3 faults.
`

/** The parser of `crossgear doctor`. */
export function doctorProgram(out: HelpOutput): Command {
  return commandParser('crossgear doctor', out)
    .description(
      'Examines a store: its server, its settings, and whether each job is in its place.',
    )
    .option('--redis-url <url>', 'the store (default: the private one of a gateway that runs)')
    .option('--data-dir <path>', "the gateway's, if there is no --redis-url")
    .option(
      '--config <file>',
      "the gateway's settings file: its store, and its routes, which name the home queues",
    )
    .option('--full', 'look at every job, however many there are')
    .option('--json', 'one line of JSON for a program')
    .addHelpText('after', helpAfter)
}

/** Undefined if only help was asked for. Throws a StartError. */
export function readDoctorArguments(
  words: readonly string[],
  out: HelpOutput,
): DoctorArguments | undefined {
  const program = doctorProgram(out)
  const refusal = (line: string, cause: ErrorOptions) => new StartError(line, 2, cause)
  if (!parseWords(program, words, refusal)) return undefined
  const { json, full, ...flags } = program.opts<Record<string, string | true>>()
  return {
    flags,
    isJson: json === true,
    isFull: full === true,
  }
}
